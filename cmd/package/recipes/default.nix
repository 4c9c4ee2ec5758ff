# SPDX-License-Identifier: GPL-3.0-or-later
# Nix: nix-build -E 'with import <nixpkgs> { }; callPackage ./default.nix { }'
{ lib, stdenv, cmake, ninja, pkg-config, liburing, systemd, util-linux
, libatasmart, json_c, inih, zstd, zlib, fuse3 }:

stdenv.mkDerivation {
  pname = "ssdprobe";
  version = "0.1.0";
  src = lib.cleanSource ../../..;
  nativeBuildInputs = [ cmake ninja pkg-config ];
  buildInputs = [
    liburing systemd util-linux libatasmart json_c inih zstd zlib fuse3
  ];
  cmakeFlags = [ "-DBUILD_TESTING=OFF" "-DSSDPROBE_ZSH=zsh/site-functions" ];
  meta = {
    description = "Finds out what is inside a flash drive by timing it";
    license = lib.licenses.gpl3Plus;
    mainProgram = "ssdprobe";
    platforms = lib.platforms.linux;
  };
}
