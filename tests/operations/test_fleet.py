# SPDX-License-Identifier: MPL-2.0
"""The table of all pools: where its results come from, what is kept, and what is asked of it."""

import io
from asyncio import CancelledError
from datetime import UTC, date, datetime

import msgspec
import pytest
from fleet_pushes import BY_DATE, LATEST, NEWEST, add_pushes, keep
from loopback import Loopback
from loopback_deployment import Deployment

from io_benchmark.analysis.fleet import fleet as analysis
from io_benchmark.analysis.fleet.fleet_model import FleetChange, KeptReadings
from io_benchmark.analysis.fleet.readings import reading_of
from io_benchmark.context import Context
from io_benchmark.costs.worker_time import Price
from io_benchmark.errors import IoBenchmarkError, ResultError, UsageError
from io_benchmark.operations.fleet import FleetQuery, alerts_of, check_order, fleet
from io_benchmark.operations.fleets import reading

DAY = date(2026, 11, 20)


@pytest.fixture
def loopback():
    """Return a project of two pools and three weeks."""
    deployment = Deployment()
    add_pushes(deployment, 3)
    with Loopback(deployment) as running:
        yield running


def ask(loopback, *addresses, **changes):
    context = Context(None, io.StringIO(), io.StringIO(), loopback.environment)
    settings = {"by": "retrieve", "margin_ratio": 0.05, "as_of": DAY, **changes}
    return fleet(context, FleetQuery(addresses=addresses or ["io-benchmark"], **settings))


def pushes_of(table):
    return {pool.pool: pool.pushes for pool in table.pools}


@pytest.mark.parametrize(
    "address", ["io-benchmark", f"index:{BY_DATE}", "{url}/tasks/index/" + BY_DATE]
)
def test_a_project(loopback, address):
    """By its name, by its namespace, or by the page of that."""
    table = ask(loopback, address.format(url=loopback.url))
    assert pushes_of(table) == {"amd-16": 3, "intel": 3}
    assert (table.title, table.unreadable, table.remarks) == ("Pools of io-benchmark", (), ())
    assert {pool.last for pool in table.pools} == {NEWEST.date()}


def test_other_addresses(loopback, tmp_path):
    """Groups, tasks and folders are read as other commands read them."""
    (group, *_) = loopback.deployment.groups
    table = ask(loopback, f"group:{group}")
    assert pushes_of(table) == {"amd-16": 1, "intel": 1}
    first, second = loopback.deployment.groups[group]
    path = tmp_path / "kept.json"
    assert pushes_of(ask(loopback, f"task:{first}", readings=path)) == {"amd-16": 1}
    # What was kept is shown as well.
    assert pushes_of(ask(loopback, f"task:{second}", readings=path)) == {"amd-16": 1, "intel": 1}


def test_a_reading_resumes(loopback, tmp_path):
    """What a limited reading has not read, the next one reads; then nothing is left."""
    path = tmp_path / "kept.json"
    table = ask(loopback, readings=path, most_requests=1)
    assert pushes_of(table) == {"amd-16": 1, "intel": 1}
    assert table.remarks == (
        "2 of 3 pushes were not read completely: 2026-11-02 to 2026-11-09; run it again to go on",
    )
    assert pushes_of(ask(loopback, readings=path)) == {"amd-16": 3, "intel": 3}
    before = len(loopback.requests)
    assert pushes_of(ask(loopback, readings=path)) == {"amd-16": 3, "intel": 3}
    # The newest fleet, the pools, their pushes, and the tasks' groups.
    assert len(loopback.requests) - before == 5


def test_advice_without_a_file(loopback):
    """The next reading would read the same again."""
    (line,) = ask(loopback, most_requests=15).remarks
    assert line == (
        "1 of 3 pushes was not read completely: 2026-11-02; add --readings FILE and run it again "
        "to go on"
    )


def test_a_reading_that_is_stopped(loopback, tmp_path, monkeypatch):
    """The results until then are kept."""
    path, count = tmp_path / "kept.json", 0
    read = reading_of

    def stop_at_third(measured):
        nonlocal count
        count += 1
        if count == 3:
            raise CancelledError
        return read(measured)

    monkeypatch.setattr(reading, "reading_of", stop_at_third)
    with pytest.raises(CancelledError):
        ask(loopback, readings=path)
    kept = msgspec.json.decode(path.read_bytes(), type=KeptReadings)
    assert len(kept.pushes) == 1
    assert 2 <= len(kept.readings) < 6


def test_what_a_task_kept(loopback, tmp_path):
    """The newest task's readings save requests; its own address shows its table again."""
    path = tmp_path / "kept.json"
    ask(loopback, readings=path)
    task_id = keep(loopback.deployment, path.read_bytes())
    before = len(loopback.requests)
    assert pushes_of(ask(loopback)) == {"amd-16": 3, "intel": 3}
    # The file takes five; no push is listed.
    assert len(loopback.requests) - before == 9
    for address in (f"task:{task_id}", f"index:{LATEST}"):
        before = len(loopback.requests)
        table = ask(loopback, address)
        assert pushes_of(table) == {"amd-16": 3, "intel": 3}
        assert table.title == "Pools of io-benchmark"
        assert len(loopback.requests) - before <= 5
    with pytest.raises(UsageError, match="this task has kept its readings"):
        ask(loopback, f"task:{task_id}", readings=path)


def test_a_task_that_kept_something_else(loopback, tmp_path):
    """Who keeps readings fails, because the newest file would lack the others; who looks may."""
    keep(loopback.deployment, b"{}")
    path = tmp_path / "kept.json"
    with pytest.raises(ResultError, match="is not a whole file of kept readings"):
        ask(loopback, readings=path)
    assert not path.exists()
    table = ask(loopback)
    assert pushes_of(table) == {"amd-16": 3, "intel": 3}
    (line,) = table.remarks
    assert line.endswith("; every push is read")
    with pytest.raises(ResultError, match="is not a whole file of kept readings"):
        ask(loopback, f"index:{LATEST}")


def test_mistakes(loopback, tmp_path):
    """A line that says which word is wrong."""
    with pytest.raises(UsageError, match="wrong: no such file or folder; the name of a project"):
        ask(loopback, "wrong", str(tmp_path))
    with pytest.raises(IoBenchmarkError, match="wrong was looked up as a project: index:gecko"):
        ask(loopback, "wrong")
    with pytest.raises(UsageError, match="is task:Fqm6GL_zRPurCmd1rRuTRQ or group:"):
        ask(loopback, "Fqm6GL_zRPurCmd1rRuTRQ")


def test_an_earlier_day(loopback):
    """Later pushes are no part of its table, and no clock's mistake."""
    table = ask(loopback, as_of=date(2026, 11, 10))
    assert pushes_of(table) == {"amd-16": 2, "intel": 2}
    assert table.notes == ()


def test_prices_are_kept(loopback, tmp_path):
    """A reading has the price that its pool had when it was read."""
    path = tmp_path / "kept.json"
    ask(loopback, readings=path, most_requests=1, prices={"intel": Price(0.5, "USD")})
    ask(loopback, readings=path, prices={"intel": Price(0.6, "USD")})
    kept = msgspec.json.decode(path.read_bytes(), type=KeptReadings)
    prices = [each.price and each.price.per_hour for each in kept.readings]
    assert sorted(map(str, prices)) == ["0.5", "0.6", "0.6", "None", "None", "None"]


@pytest.mark.parametrize(
    ("by", "given", "message"),
    [
        ("minutes", {"has_prices": True}, "--by minutes: this is of a predicted task"),
        ("money", {"has_prices": True}, "--by money: this is of a predicted task"),
        ("money", {"has_profile": True}, "--by money: no prices are known"),
        ("price", {}, "--by price: no prices are known"),
        ("write-cost", {}, "--by write-cost: no prices are known"),
        ("write", {}, None),
        ("minutes", {"has_profile": True}, None),
        ("write-cost", {"has_prices": True}, None),
    ],
)
def test_orders(by, given, message):
    """An order that lacks an option names it."""
    given = {"has_profile": False, "has_prices": False, **given}
    if message is None:
        check_order(by, **given)
    else:
        with pytest.raises(UsageError, match=message):
            check_order(by, **given)


@pytest.fixture
def alerting(monkeypatch):
    """Let each table have an alert, unless it was announced; return the keys that were."""
    announced = []
    whole = analysis.fleet

    def with_alert(readings, **settings):
        announced.append(settings["announced"])
        table = whole(readings, **settings)
        change = FleetChange(
            key="k",
            figure="retrieve",
            since=DAY,
            found=DAY,
            ratio=1.25,
            interval=None,
            machines=1,
            of_machines=4,
            is_alert="k" not in settings["announced"],
        )
        first, *rest = table.pools
        pools = (msgspec.structs.replace(first, changes=(change,)), *rest)
        return msgspec.structs.replace(table, pools=pools)

    monkeypatch.setattr(analysis, "fleet", with_alert)
    return announced


def test_an_alert_is_raised_once(loopback, tmp_path, alerting):
    """The file names it, and the next table does not repeat it."""
    path = tmp_path / "kept.json"
    (alert,) = alerts_of(ask(loopback, readings=path))
    assert alert.startswith("amd-16 is ")
    for word in ("slower", "1.25×", "2026-11-20", "1 of 4 machines"):
        assert word in alert
    assert alerts_of(ask(loopback, readings=path)) == []
    assert alerts_of(ask(loopback, readings=path)) == []
    assert alerting == [(), ("k",), ("k",)]


@pytest.mark.usefixtures("alerting")
def test_an_alert_of_a_task(loopback, tmp_path):
    """The task's own table has it again; the next week's does not."""
    path = tmp_path / "kept.json"
    ask(loopback, readings=path)
    task_id = keep(loopback.deployment, path.read_bytes())
    for _ in range(2):
        assert len(alerts_of(ask(loopback, f"task:{task_id}"))) == 1
    assert alerts_of(ask(loopback, readings=tmp_path / "next.json")) == []


def test_now(loopback):
    """Without a day, it is today."""
    assert ask(loopback, as_of=None).as_of == datetime.now(UTC).date()
