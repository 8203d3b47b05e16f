# SPDX-License-Identifier: MPL-2.0
"""What only a Windows worker records: of its host, and of each place. A fact is null if unknown."""

from typing import Annotated

from io_benchmark.results.parts import Count, Few, Many, ResultPart, Text


class _Defender(ResultPart, frozen=True):
    is_running: bool | None
    is_real_time: bool | None  # whether it scans files when they are opened and closed
    excluded_paths: Annotated[list[Text], Many] | None


class WindowsHost(ResultPart, frozen=True):
    power_plan: Text | None
    paging_files: Annotated[list[Text], Few] | None
    long_paths: bool | None
    last_access: bool | None
    defender: _Defender
    filters: Annotated[list[Text], Many] | None  # the file system's, by name


class WindowsPlace(ResultPart, frozen=True):
    drive: Text
    is_substituted_for: Text | None
    is_dev_drive: bool | None
    is_trusted_dev_drive: bool | None
    cluster_bytes: Count | None
    short_names: bool | None  # whether the volume makes an 8.3 name for each new file
    is_compressed: bool | None
    is_encrypted: bool | None
    clones_blocks: bool | None
    is_system_disk: bool | None
    has_paging_file: bool | None
    is_excluded: bool | None  # whether Defender excludes it
    is_temporary_disk: bool | None  # of the cloud
