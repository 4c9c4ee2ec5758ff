#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-3.0-or-later
# test_twin_formats.sh SOURCE BUILD: the twin as the configuration of other
# simulators. A reader for each format knows its keys, and looks whether the
# drive described there is the one of the drive file.
set -u

ssdprobe=$2/ssdprobe
work=$(mktemp -d)
trap 'rm -rf -- "$work"' EXIT
passed=0 failed=0

# check NAME COMMAND...: the command must succeed.
check()
{
    local name=$1
    shift
    if "$@" >"$work/log" 2>&1; then
        ((passed += 1))
    else
        ((failed += 1))
        printf 'FAILED: %s\n' "$name"
        sed 's/^/    /' "$work/log"
    fi
}

# made DRIVE PROBES: a run, and its twin in every format.
made()
{
    local format
    "$ssdprobe" run "$2" "sim:$1" --yes -q --output-dir="$work/$1" || return
    for format in drive mqsim nvmevirt femu fio; do
        "$ssdprobe" twin "$work/$1" --format=$format \
            --output="$work/$1.$format" || return
    done
}

# reads NAME FORMAT: of that drive, the whole file.
reads()
{
    python3 - "$work/$1" "$2" <<'PYTHON'
import configparser
import re
import sys
import xml.etree.ElementTree

stem, form = sys.argv[1:]
text = open("%s.%s" % (stem, form), encoding="ascii").read()
drive = configparser.ConfigParser(comment_prefixes=";", strict=True)
drive.read_string(open(stem + ".drive", encoding="ascii").read())


def number(section, key, usual):
    value = drive.get(section, key, fallback=str(usual))
    unit = {"KiB": 1024, "us": 1000, "ns": 1}
    for name, factor in unit.items():
        if value.endswith(name):
            return int(value[:-len(name)]) * factor
    return int(value)


capacity = number("drive", "capacity_bytes", 0)
channels = number("array", "channels_count", 1)
banks = number("array", "banks_per_channel_count", 1)
command = number("host", "command_ns", 0)


def holds(raw):
    """Is there room for the capacity, and no third of it to spare?"""
    assert capacity <= raw <= 4 * capacity / 3, (capacity, raw)


def all_known(keys, names):
    assert set(keys) == set(names.split()), set(keys) ^ set(names.split())


def mqsim():
    for line in text.splitlines():
        assert not re.match(r" *<\w+>[^<]", line) or "<!-- " in line, line
    top = xml.etree.ElementTree.fromstring(text)
    assert top.tag == "Execution_Parameter_Set"
    device = top.find("Device_Parameter_Set")
    flash = device.find("Flash_Parameter_Set")
    all_known([one.tag for one in top.find("Host_Parameter_Set")],
              "PCIe_Lane_Bandwidth PCIe_Lane_Count SATA_Processing_Delay "
              "Enable_ResponseTime_Logging ResponseTime_Logging_Period_Length")
    all_known([one.tag for one in device], """
        Seed Enabled_Preconditioning Memory_Type HostInterface_Type
        IO_Queue_Depth Queue_Fetch_Size Data_Cache_Sharing_Mode
        Data_Cache_Capacity Data_Cache_DRAM_Row_Size Data_Cache_DRAM_Data_Rate
        Data_Cache_DRAM_Data_Busrt_Size Data_Cache_DRAM_tRCD
        Data_Cache_DRAM_tCL Data_Cache_DRAM_tRP Address_Mapping
        Ideal_Mapping_Table CMT_Capacity CMT_Sharing_Mode
        Plane_Allocation_Scheme Transaction_Scheduling_Policy
        Overprovisioning_Ratio GC_Exec_Threshold GC_Block_Selection_Policy
        Use_Copyback_for_GC Preemptible_GC_Enabled GC_Hard_Threshold
        Dynamic_Wearleveling_Enabled Static_Wearleveling_Enabled
        Static_Wearleveling_Threshold Preferred_suspend_erase_time_for_read
        Preferred_suspend_erase_time_for_write
        Preferred_suspend_write_time_for_read Flash_Channel_Count
        Flash_Channel_Width Channel_Transfer_Rate Chip_No_Per_Channel
        Flash_Comm_Protocol Flash_Parameter_Set""")
    all_known([one.tag for one in flash], """
        Flash_Technology CMD_Suspension_Support Page_Read_Latency_LSB
        Page_Read_Latency_CSB Page_Read_Latency_MSB Page_Program_Latency_LSB
        Page_Program_Latency_CSB Page_Program_Latency_MSB Block_Erase_Latency
        Block_PE_Cycles_Limit Suspend_Erase_Time Suspend_Program_Time
        Die_No_Per_Chip Plane_No_Per_Die Block_No_Per_Plane Page_No_Per_Block
        Page_Capacity Page_Metadat_Capacity""")
    value = {one.tag: one.text for one in list(device) + list(flash)}
    assert int(value["Flash_Channel_Count"]) == channels
    assert int(value["Chip_No_Per_Channel"]) == banks
    assert re.fullmatch("[CWDP]{4}", value["Plane_Allocation_Scheme"])
    raw = channels * banks
    for key in ("Die_No_Per_Chip", "Plane_No_Per_Die", "Block_No_Per_Plane",
                "Page_No_Per_Block", "Page_Capacity"):
        raw *= int(value[key])
    holds(raw)


def nvmevirt():
    value = dict(re.findall(r"^#define (\w+) (.*) /\* .+ \*/$", text, re.M))
    assert len(value) == text.count("#define")
    all_known(value, """
        NR_NAMESPACES NS_SSD_TYPE_0 NS_CAPACITY_0 NS_SSD_TYPE_1 NS_CAPACITY_1
        MDTS CELL_MODE SSD_PARTITIONS NAND_CHANNELS LUNS_PER_NAND_CH
        PLNS_PER_LUN FLASH_PAGE_SIZE ONESHOT_PAGE_SIZE BLKS_PER_PLN BLK_SIZE
        MAX_CH_XFER_SIZE WRITE_UNIT_SIZE NAND_CHANNEL_BANDWIDTH PCIE_BANDWIDTH
        NAND_4KB_READ_LATENCY_LSB NAND_4KB_READ_LATENCY_MSB
        NAND_4KB_READ_LATENCY_CSB NAND_READ_LATENCY_LSB NAND_READ_LATENCY_MSB
        NAND_READ_LATENCY_CSB NAND_PROG_LATENCY NAND_ERASE_LATENCY
        FW_4KB_READ_LATENCY FW_READ_LATENCY FW_WBUF_LATENCY0 FW_WBUF_LATENCY1
        FW_CH_XFER_LATENCY OP_AREA_PERCENT GLOBAL_WB_SIZE
        WRITE_EARLY_COMPLETION""")
    size = re.search(r"memmap_size=(\d+)", text).group(1)
    assert int(size) == capacity >> 20
    assert value["NAND_CHANNELS"] == "(%d)" % channels
    assert value["FW_READ_LATENCY"] == "(%d)" % command


def femu():
    line = [one for one in text.splitlines() if not one.startswith("#")]
    assert len(line) == 1 and line[0].startswith("-device femu,"), line
    value = dict(one.split("=") for one in line[0].split(",")[1:])
    told = re.findall(r"^# (\w+)=(.*?): .", text, re.M)
    assert dict(told) == value
    known = set("""devsz_mb femu_mode namespaces secsz secs_per_pg pgs_per_blk
        blks_per_pl pls_per_lun luns_per_ch nchs pg_rd_lat pg_wr_lat blk_er_lat
        pg_xfer_lat pe_suspend pcie_bandwidth_mbps fw_cpu_ns mapping
        mapping_cache_mb gc_policy gc_thres_pcent gc_thres_pcent_high
        buffer_size vwc queues""".split())
    assert set(value) <= known and known - set(value) <= {"mapping_cache_mb"}
    assert value["mapping"] in ("page", "dftl", "hybrid", "fast")
    assert int(value["nchs"]) == channels
    raw = 1
    for key in ("secsz", "secs_per_pg", "pgs_per_blk", "blks_per_pl",
                "pls_per_lun", "luns_per_ch", "nchs"):
        raw *= int(value[key])
    holds(raw)
    assert int(value["devsz_mb"]) == capacity >> 20
    assert int(value["fw_cpu_ns"]) == command


def fio():
    job = configparser.ConfigParser(comment_prefixes=";", strict=True,
                                    allow_no_value=True, interpolation=None)
    job.read_string(text)
    assert job["global"]["direct"] == "1"
    assert "stonewall" in job["global"]
    assert int(job["global"]["size"]) == capacity
    sections = [one for one in job.sections() if one != "global"]
    assert sections
    for one in sections:
        assert job[one]["rw"] in ("read", "write", "randread", "randwrite",
                                  "randrw")
        assert one.endswith("depth " + job[one]["iodepth"])
    assert text.count("mean is off by") == len(sections)


{"mqsim": mqsim, "nvmevirt": nvmevirt, "femu": femu, "fio": fio}[form]()
PYTHON
}

ends()
{
    local wanted=$1
    shift
    "$ssdprobe" "$@"
    [ $? = "$wanted" ]
}

for drive in ssd-a nvme-tlc; do
    check "$drive: a twin in every format" made $drive read-buffer
    for format in mqsim nvmevirt femu fio; do
        check "$drive: a reader takes $format" reads $drive $format
    done
done
check "another format is refused" \
    ends 1 twin "$work/ssd-a" --format=disksim

printf '%d passed, %d failed\n' "$passed" "$failed"
exit $((failed > 0))
