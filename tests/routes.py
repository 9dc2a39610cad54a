"""Paths with a final slash in the emulator, whose /x/{proxy+} does not take /x/."""

from releases import deploy, rotation_leaves_no_former_secret
from story import done


def slash_routes_are_one_release(owner):
    """Without the routes that SlashRoutes adds, the probe fails; with them, everything works. The next release adds them, whatever
    else it is about."""
    status, output = deploy("SlashRoutes=false")
    assert status == 1 and "308" in output, output
    answered = [owner.send("GET", path)[0] for path in ("/companies/acme/projects/", "/companies/acme/projects")]
    assert answered == [308, 200], answered
    rotation_leaves_no_former_secret("SlashRoutes=true")
    assert owner.send("GET", "/companies/acme/projects/")[0] == 200
    done("where /x/{proxy+} does not take /x/, the probe fails, and one release with SlashRoutes helps")
