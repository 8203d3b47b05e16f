# SPDX-License-Identifier: MPL-2.0
"""The addresses of --upload-url and --download-url."""

import os

PRINTABLE = r"[\x21-\x7e]+"
URL = "http://host/path or https://host/path, without a user or password"
DOWNLOAD = URL + "; /path of a task's deployment; loopback or none"
LOOPBACK, NOTHING = "loopback", "none"  # the script's own server; a kind that has no address


def parse_url(word):
    from urllib.parse import urlsplit  # noqa: PLC0415 - measure must not load it

    parts = urlsplit(word)
    parts.port  # noqa: B018 - raises ValueError if it is not a number
    if parts.scheme not in ("http", "https") or not parts.hostname or "@" in parts.netloc:
        raise ValueError
    return word


def parse_download(word):
    """Return a URL; a path is one of the deployment whose task this is."""
    if word == NOTHING:
        return word
    if word == LOOPBACK:
        return None
    root_url = os.environ.get("TASKCLUSTER_ROOT_URL", "") if word.startswith("/") else ""
    return parse_url(root_url.rstrip("/") + word)


def origin_of(url):
    """Return the host only: the rest may hold a signature, and results are public."""
    if url in (None, NOTHING):
        return None
    from urllib.parse import urlsplit  # noqa: PLC0415 - measure must not load it

    parts = urlsplit(url)
    return "%s://%s" % (parts.scheme, parts.netloc)
