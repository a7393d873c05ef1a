"""Puts an APK together, and says how its native libraries lie in it.

    apk.py pack OUT RESOURCES DEX_FOLDER LIB_FOLDER [JAR_WITH_SERVICES]...
    apk.py check APK ABI...
"""

import pathlib
import struct
import sys
import zipfile

PAGE = 16384


def pack(out, resources, dex, libraries, *jars):
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as apk:
        with zipfile.ZipFile(resources) as linked:
            for entry in linked.infolist():  # each stored or deflated as aapt2 chose
                apk.writestr(entry.filename, linked.read(entry), entry.compress_type)
        for file in sorted(pathlib.Path(dex).glob("*.dex")):
            apk.write(file, file.name)
        # Stored: the system maps them straight out of the APK.
        for file in sorted(pathlib.Path(libraries).glob("*/*.so")):
            apk.write(file, f"lib/{file.parent.name}/{file.name}", zipfile.ZIP_STORED)
        for jar in jars:
            with zipfile.ZipFile(jar) as source:
                for name in source.namelist():
                    if name.startswith("META-INF/services/") and not name.endswith("/"):
                        apk.writestr(name, source.read(name))


def check(path, *abis):
    wrong = []
    with zipfile.ZipFile(path) as apk, open(path, "rb") as raw:
        found = {}
        for entry in apk.infolist():
            if not entry.filename.endswith(".so"):
                continue
            raw.seek(entry.header_offset + 26)
            name, extra = struct.unpack("<HH", raw.read(4))
            begins = entry.header_offset + 30 + name + extra
            _, abi, library = entry.filename.split("/")
            found.setdefault(abi, set()).add(library)
            if entry.compress_type != zipfile.ZIP_STORED:
                wrong.append(f"{entry.filename} is compressed")
            if begins % PAGE:
                wrong.append(f"{entry.filename} begins at {begins}, not on a page of 16 KB")
            print(f"{entry.filename}: {entry.file_size} bytes at {begins}")
        for abi in abis:
            if found.get(abi) != {"libjnidispatch.so", "librejoin.so"}:
                wrong.append(f"{abi} has {sorted(found.get(abi, []))}")
        if extra_abis := set(found) - set(abis):
            wrong.append(f"half an ABI: {extra_abis}")
    for line in wrong:
        print(f"WRONG {line}", file=sys.stderr)
    sys.exit(1 if wrong else 0)


if __name__ == "__main__":
    {"pack": pack, "check": check}[sys.argv[1]](*sys.argv[2:])
