"""A real accessibility client, on the system's Python with its D-Bus module: prints what it sees as JSON.

Speaks AT-SPI itself, as pyatspi does. Used by test_atspi.py alone; imports nothing of ours.
"""
# mypy: ignore-errors

import json
import subprocess
import sys
import time

import dbus
import dbus.mainloop.glib
from gi.repository import GLib

ACCESSIBLE, TEXT, ACTION = "org.a11y.atspi.Accessible", "org.a11y.atspi.Text", "org.a11y.atspi.Action"
PROPERTIES = "org.freedesktop.DBus.Properties"
SECONDS = 60


def main() -> None:
    dbus.mainloop.glib.DBusGMainLoop(set_as_default=True)
    session = dbus.SessionBus()
    launcher = session.get_object("org.a11y.Bus", "/org/a11y/bus")
    dbus.Interface(launcher, PROPERTIES).Set("org.a11y.Status", "IsEnabled", dbus.Boolean(True))
    bus = dbus.bus.BusConnection(str(dbus.Interface(launcher, "org.a11y.Bus").GetAddress()))
    announced = []
    bus.add_signal_receiver(
        lambda *args: announced.append(str(args[3])), "Announcement", "org.a11y.atspi.Event.Object"
    )
    registry = bus.get_object("org.a11y.atspi.Registry", "/org/a11y/atspi/registry")
    listening = dbus.Interface(registry, "org.a11y.atspi.Registry")
    listening.RegisterEvent("object:announcement", dbus.Array([], signature="s"), "")
    program = subprocess.Popen(sys.argv[1:], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    seen = {}
    try:
        assert program.stdout.readline().strip() == b"ready"
        found = look_for(bus, "Conversation")
        seen["role"] = role(bus, found)
        seen["count"] = int(prop(bus, found, "ChildCount"))
        items = [call(bus, found, ACCESSIBLE, "GetChildAtIndex", dbus.Int32(at)) for at in (0, 5_000, 9_999)]
        seen["items"] = [
            {
                "role": role(bus, item),
                "name": str(prop(bus, item, "Name")),
                "description": str(prop(bus, item, "Description")),
                "text": str(call(bus, item, TEXT, "GetText", dbus.Int32(0), dbus.Int32(-1))),
                "index": int(call(bus, item, ACCESSIBLE, "GetIndexInParent")),
                "actions": [str(action[0]) for action in call(bus, item, ACTION, "GetActions")],
            }
            for item in items
        ]
        last = items[-1]
        seen["word"] = str(call(bus, last, TEXT, "GetTextAtOffset", dbus.Int32(7), dbus.UInt32(1))[0])
        extents = call(bus, last, TEXT, "GetCharacterExtents", dbus.Int32(6), dbus.UInt32(0))
        seen["extents"] = [int(number) for number in extents]
        call(bus, last, TEXT, "SetCaretOffset", dbus.Int32(6))
        seen["caret"] = int(prop(bus, last, "CaretOffset", TEXT))
        program.stdin.write(b"close\n")
        program.stdin.flush()
        wait(lambda: bool(announced))
        seen["announced"] = announced
    finally:
        program.stdin.close()
        seen["exit"] = program.wait(SECONDS)
    print(json.dumps(seen))


def look_for(bus, name):
    found = []

    def look() -> bool:
        root = ("org.a11y.atspi.Registry", "/org/a11y/atspi/accessible/root")
        queue = [(root, 0)]
        while queue:
            at, depth = queue.pop(0)
            try:
                if depth and str(prop(bus, at, "Name")) == name and role(bus, at) == "list":
                    found.append(at)
                    return True
                if depth < 5 and int(prop(bus, at, "ChildCount")) < 50:
                    queue += [(child, depth + 1) for child in call(bus, at, ACCESSIBLE, "GetChildren")]
            except dbus.DBusException:
                continue
        return False

    wait(look)
    return found[0]


def wait(condition) -> None:
    context = GLib.MainContext.default()
    end = time.monotonic() + SECONDS
    while not condition():
        if time.monotonic() > end:
            raise SystemExit("it was not seen in time")
        while context.iteration(False):
            pass
        time.sleep(0.02)


def call(bus, at, interface, method, *args):
    about = dbus.Interface(bus.get_object(at[0], at[1], introspect=False), interface)
    return about.get_dbus_method(method)(*args)


def prop(bus, at, name, interface=ACCESSIBLE):
    return call(bus, at, PROPERTIES, "Get", interface, name)


def role(bus, at) -> str:
    return str(call(bus, at, ACCESSIBLE, "GetRoleName"))


main()
