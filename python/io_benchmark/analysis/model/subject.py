# SPDX-License-Identifier: MPL-2.0
"""What is measured, and compared only with the same."""

from msgspec import Struct

from io_benchmark.results.workloads.cache_retrieve import SEED


class Subject(Struct, frozen=True, order=True, omit_defaults=True):
    """One measurement. Only identical measurements are compared.

    cache-retrieve has a destination and a fidelity; others have a variant and a number of threads.
    """

    workload: str
    place: str
    destination: str = ""
    fidelity: str = ""
    variant: str = ""
    threads: int = 0  # or processes; 0: the workload has no such choice

    @property
    def parts(self) -> tuple[str, ...]:
        """Return the parts of its title: `sync-write`, `place workspace`, `4 at once`."""
        is_usual = self.fidelity in ("", SEED)
        optional = (
            f"destination {self.destination}" if self.destination else "",
            "" if is_usual else f"fidelity {self.fidelity}",
            self.variant,
            f"{self.threads} at once" if self.threads else "",
        )
        return self.workload, f"place {self.place}", *filter(None, optional)

    @property
    def label(self) -> str:
        threads = f"{self.threads:,} at once" if self.threads else ""
        return ", ".join(filter(None, (self.variant, self.destination, threads))) or self.workload

    def __str__(self) -> str:
        return ", ".join(self.parts)
