# SPDX-License-Identifier: MPL-2.0
# In the virtual machine: three volumes of LVM over three disks, formatted and mounted as the pools'
# machines mount theirs. They are measured one after another, so they may have disks in common.
# shellcheck shell=bash

# Nothing watches for devices here: LVM finds them, and makes their nodes, by itself.
export LVM_SYSTEM_DIR=/run/lvm DM_DISABLE_UDEV=1
mkdir "$LVM_SYSTEM_DIR"
cat >"$LVM_SYSTEM_DIR/lvm.conf" <<'CONF'
activation { udev_sync = 0 udev_rules = 0 monitoring = 0 }
devices { obtain_device_list_from_udev = 0 external_device_info_source = "none" use_devicesfile = 0 }
backup { backup = 0 archive = 0 }
global { use_lvmpolld = 0 event_activation = 0 }
CONF

# Writers wait for the disks soon, whatever memory there is.
echo 16777216 >/proc/sys/vm/dirty_bytes

disks=(/dev/nvme0n1 /dev/nvme1n1 /dev/nvme2n1)
lvm vgcreate --quiet pools "${disks[@]}"
volume() { lvm lvcreate --quiet --yes --wipesignatures n --name "$@"; }
volume single --extents 110 pools "${disks[0]}"
volume striped --stripes 2 --stripesize 64k --extents 110 pools "${disks[@]:1}"
# Its first disk holds all that is measured: that is what makes a linear volume slow.
volume linear --extents 120 pools "${disks[0]}:110-219" "${disks[1]}:110-119"

for name in single striped linear; do
    mkfs.ext4 -q -b 4096 -E nodiscard,lazy_itable_init=1,lazy_journal_init=1 "/dev/pools/$name"
    mkdir "/run/$name"
    # noinit_itable: nothing else writes meanwhile.
    mount -o nobarrier,data=writeback,noinit_itable "/dev/pools/$name" "/run/$name"
done
