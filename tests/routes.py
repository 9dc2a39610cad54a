"""Paths with a final slash in the emulator, whose /x/{proxy+} does not take /x/."""

from releases import deploy
from story import done


def slash_routes_are_one_release(owner):
    """Without the routes that SlashRoutes adds, the probe fails; with them, everything works."""
    status, output = deploy("SlashRoutes=false")
    assert status == 1 and "308" in output, output
    answered = [owner.send("GET", path)[0] for path in ("/companies/acme/projects/", "/companies/acme/projects")]
    assert answered == [308, 200], answered
    status, output = deploy("SlashRoutes=true")
    assert status == 0 and "ok  the probe passes" in output, output
    assert owner.send("GET", "/companies/acme/projects/")[0] == 200
    done("where /x/{proxy+} does not take /x/, the probe fails, and one release with SlashRoutes helps")
