#!/usr/bin/env python3
# SPDX-License-Identifier: BSL-1.0
# Writes the platforms of benchmarks/model/simulate beside itself, for SimGrid 3.32. alpha is the time from host to
# host, twice the latency of a link of a <cluster>; hosts do a flop in a nanosecond.
import pathlib

head = """<?xml version='1.0'?>
<!DOCTYPE platform SYSTEM "https://simgrid.org/simgrid.dtd">
<!-- Written by model/platforms/generate.py. -->
<platform version="4.1">
"""


def write(name, text):
    (pathlib.Path(__file__).parent / f"{name}.xml").write_text(f"{head}{text}</platform>\n")


def cluster(name, first, last, bandwidth, latency, more=""):
    return (f'<cluster id="{name}" prefix="n" suffix="" radical="{first}-{last}" speed="1Gf" bw="{bandwidth}" '
            f'lat="{latency}" sharing_policy="SPLITDUPLEX"{more}/>\n')


write("flat_t3e", "  <!-- As a Cray T3E: alpha 12 us, 330 MB/s each way, a full crossbar. -->\n  "
      + cluster("t3e", 0, 1023, "330MBps", "6us"))
write("flat_100g", "  <!-- 100 Gb/s: alpha 1.5 us, 12.5 GB/s each way, a full crossbar. -->\n  "
      + cluster("c", 0, 1023, "12.5GBps", "750ns"))

# Ranks of a host meet in its loopback, so that hosts have several cores as MPI sees them (MPI_COMM_TYPE_SHARED).
nodes, cores = 64, 8
write("two_level", f"""\
  <!-- {nodes} hosts of {cores} cores: within a host alpha 0.5 us and 10 GB/s for each pair of ranks, between hosts 3 us
       and one way of 1.25 GB/s out and in for all of its ranks. -->
  <cluster id="c" prefix="n" suffix="" radical="0-{nodes - 1}" speed="1Gf" core="{cores}" bw="1.25GBps" lat="1.5us"
           sharing_policy="SPLITDUPLEX" loopback_bw="10GBps" loopback_lat="0.5us"/>
""")

way = '<link_ctn id="wan" direction="{}"/></zoneRoute>\n'
write("wan", "  <!-- Two clusters of 64 hosts, alpha 50 us and 12.5 MB/s each way, "
      "30 ms and 12.5 MB/s between them. -->\n"
      '  <zone id="all" routing="Full">\n'
      + "    " + cluster("A", 0, 63, "12.5MBps", "25us", ' router_id="ra"')
      + "    " + cluster("B", 64, 127, "12.5MBps", "25us", ' router_id="rb"')
      + '    <link id="wan" bandwidth="12.5MBps" latency="30ms" sharing_policy="SPLITDUPLEX"/>\n'
      + '    <zoneRoute symmetrical="NO" src="A" dst="B" gw_src="ra" gw_dst="rb">' + way.format("UP")
      + '    <zoneRoute symmetrical="NO" src="B" dst="A" gw_src="rb" gw_dst="ra">' + way.format("DOWN")
      + "  </zone>\n")
