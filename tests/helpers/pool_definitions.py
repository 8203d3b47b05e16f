# SPDX-License-Identifier: MPL-2.0
"""A file of pools' definitions with machines of three clouds, in the form of fxci-config's."""

POOLS = """\
meta:
  - &persistent-disk
    boot: true
    initializeParams:
      sourceImage: <image>
    type: PERSISTENT
  - &persistent-disk-60gb
    <<: *persistent-disk
    diskSizeGb: 60
  - &scratch-disk
    initializeParams:
      diskType: diskTypes/local-ssd
    type: SCRATCH
  - &c3d-standard-16-lssd
    disks:
      - *persistent-disk-60gb
      - *scratch-disk
    machine_type: c3d-standard-16-lssd
pools:
  - pool_id: '{group}/b-linux{suffix}'
    attributes:
      suffix: ''
    variants:
      - group: gecko-1
        instance_types: [*c3d-standard-16-lssd]
      - group: gecko-1
        suffix: -large
        instance_types:
          - *c3d-standard-16-lssd
    config:
      instance_types: []
  - pool_id: '{group}/t-linux'
    variants: [{group: gecko-1}, {group: comm-1}, {group: nss-1}]
    config:
      instance_types:
        by-group:
          (gecko|comm)-.*:
            - *c3d-standard-16-lssd
          default:
            - disks:
                - <<: *persistent-disk
                  diskSizeGb: 1024
                - *scratch-disk
                - *scratch-disk
              machine_type: c2-standard-16
  - pool_id: infra/ssd
    config:
      instance_types:
        - machine_type: n2-standard-8
          disks:
            - boot: true
              diskSizeGb: 200  # of ours
              initializeParams: {diskType: diskTypes/pd-ssd}
            - initializeParams:
                diskType: diskTypes/hyperdisk-balanced
                diskSizeGb: 500
                provisionedIops: 6000
                provisionedThroughput: 300
  - pool_id: 'win/{kind}'
    variants: [{kind: cpu}, {kind: gpu}]
    config:
      vmSizes:
        - vmSize: &size
            by-kind:
              g.u: Standard_NV12s_v3
              default: Standard_D32ads_v5
          launchConfig:
            hardwareProfile: {vmSize: *size}
            storageProfile:
              osDisk:
                diskSizeGB: 256
                managedDisk:
                  storageAccountType: StandardSSD_LRS
              dataDisks:
                - managedDisk: {storageAccountType: PremiumV2_LRS}
                  diskSizeGB: 512
                  diskIOPSReadWrite: 4000
                  diskMBpsReadWrite: 200
  - pool_id: win/ephemeral
    config:
      vmSizes:
        - vmSize: Standard_F8s_v2
          launchConfig:
            storageProfile:
              osDisk: {diffDiskSettings: {option: Local}}
  - pool_id: 'arm/{kind}'
    variants: [{kind: plain}, {kind: template}]
    config:
      armDeployment:
        by-kind:
          template: {templateSpecId: /a/template}
          default: false
      vmSizes:
        - vmSize: Standard_D32ads_v5
          launchConfig:
            hardwareProfile: {vmSize: Standard_D16ads_v5}
            storageProfile:
              osDisk: {diskSizeGB: 256}
  - pool_id: aws/linux
    config:
      instance_types:
        - instanceType: m5d.metal
        - instanceType: m5.4xlarge
          launchConfig:
            BlockDeviceMappings:
              - DeviceName: /dev/sda1
                Ebs:
                  VolumeSize: 120
                  VolumeType: gp3
                  Iops: 4000
                  Throughput: 250
              - DeviceName: /dev/sdb
                Ebs: {VolumeSize: 500}
              - {DeviceName: /dev/sdc, VirtualName: ephemeral0}
"""
