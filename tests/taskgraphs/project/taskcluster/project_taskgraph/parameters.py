# SPDX-License-Identifier: MPL-2.0
"""A project's own parameter, in the form that the installed taskgraph takes."""

import taskgraph
import voluptuous
from taskgraph.parameters import extend_parameters_schema


def extend_parameters():
    extend_parameters_schema(schema(), defaults_fn=lambda _root=None: {"shipping_phase": ""})


def schema():
    if int(taskgraph.__version__.split(".")[0]) < 23:
        return {voluptuous.Required("shipping_phase"): str}
    from taskgraph.util.schema import Schema

    class ProjectParameters(Schema, rename=None):  # type: ignore[call-arg, misc]
        shipping_phase: str

    return ProjectParameters


def decision_parameters(graph_config, parameters):
    """Fill the project's own parameter."""
    parameters["shipping_phase"] = "build"
