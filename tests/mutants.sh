#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-3.0-or-later
# tests/mutants.sh SOURCE_DIR BUILD_DIR [PATTERN]: does a test fail when an
# estimator is wrong, or what guards the data on a drive? Each row breaks one (a
# sign, a threshold, a missing correction) in a copy of the tree, and names the
# suite, and the case of it, that must fail. Only that suite is built.
set -u

source_dir=$(realpath -- "$1")
pattern=${3-}
scratch=$(mktemp -d)
trap 'rm -rf -- "$scratch"' EXIT
passed=0 failed=0
export CK_TIMEOUT_MULTIPLIER=${CK_TIMEOUT_MULTIPLIER:-20}

# file | sed expression | suite | case ('' for all)
table()
{
    cat <<'END'
lib/infer/statistics/stats.c|s/sorted\[count \/ 2 - 1\] + sorted/sorted[count \/ 2] + sorted/|test_infer|
lib/infer/statistics/stats.c|s/half = (count + 1) \/ 2/half = count/|test_infer|
lib/infer/statistics/stats.c|s/1\.482602218505602/1.0/|test_infer|
lib/infer/statistics/stats.c|s/sum > alpha/sum > 40 * alpha/|test_infer|
lib/infer/statistics/stats.c|s/k + 1 > hits/k > hits/|test_infer|
lib/infer/statistics/stats.c|s/erfc(-z/erfc(z/|test_infer|
lib/infer/statistics/bisect.c|s/(i >= at) == holds/(i > at) == holds/|test_infer|
lib/infer/statistics/period.c|s/slow_spreads = 3,/slow_spreads = 30,/|test_probes_kim|periods
lib/infer/statistics/period.c|s/slow_least = 0.05/slow_least = 0.1/|test_period|
lib/infer/statistics/period.c|s/slow_least = 0.05/slow_least = 0.02/|test_period|
lib/infer/statistics/period.c|s/search_error = 1e-4/search_error = 1e-2/|test_period|
lib/infer/statistics/period.c|s/search_error = 1e-4/search_error = 1e-5/|test_period|
lib/infer/statistics/period.c|s/certify_error = 1e-6/certify_error = 1e-5/|test_period|
lib/infer/statistics/period.c|s/certify_error = 1e-6/certify_error = 1e-7/|test_period|
lib/infer/statistics/period.c|s/search_hits = 0.5/search_hits = 0.4/|test_period|
lib/infer/statistics/period.c|s/search_hits = 0.5/search_hits = 0.65/|test_period|
lib/infer/statistics/period.c|s/certify_hits = 0.6/certify_hits = 0.5/|test_period|
lib/infer/statistics/period.c|s/certify_hits = 0.6/certify_hits = 0.7/|test_period|
lib/infer/statistics/period.c|s/other_hits = 0.5/other_hits = 0.4/|test_period|
lib/infer/statistics/period.c|s/other_hits = 0.5/other_hits = 0.7/|test_period|
lib/infer/statistics/period.c|s/as_slow_least = 0.5/as_slow_least = 0.4/|test_period|
lib/infer/statistics/period.c|s/as_slow_least = 0.5/as_slow_least = 0.6/|test_period|
lib/infer/statistics/period.c|s/own - 0.3/own - 0.1/|test_period|
lib/infer/statistics/period.c|s/own - 0.3/own - 0.4/|test_period|
lib/infer/statistics/period.c|s/reach = length \/ 16 + 1/reach = length \/ 16/|test_period|
lib/infer/statistics/period.c|s/reach = length \/ 16 + 1/reach = length \/ 16 + 2/|test_period|
lib/infer/statistics/period.c|s/length - distance <= reach/length - distance < reach/|test_period|
lib/infer/statistics/period.c|s/for (size_t i = first; i < count; i++)/for (size_t i = 0; i < count; i++)/|test_period|
lib/infer/statistics/recurrence.c|s/alike_most = 3,/alike_most = 30,/|test_recurrence|
lib/infer/statistics/recurrence.c|s/length, alike_most)/length, -9)/|test_recurrence|
lib/infer/statistics/recurrence.c|s/\.first = least + 1/.first = 1/|test_recurrence|
lib/infer/statistics/recurrence.c|s/found->length == early.length/early.length/|test_recurrence|
lib/flash/flash.c|s/ns > waits_ns ? ns - waits_ns : 0/ns + 0 * waits_ns/|test_flash_queues|
lib/flash/controller/serve_queued.c|s/if (kept_bytes(flash, run) > all \&\&/if (false \&\&/|test_flash_queues|
lib/study/lee_hot_cold.c|s/+= level > 0/+= 1/|test_experiments|
lib/flash/ftl/mapping_log.c|s/set->logs_count == map->set_logs_count/false/|test_flash_logs|
lib/flash/ftl/mapping_log.c|s/if (map->log_place\[unit\] != place_of(map, log, slot))/if (map->log_place[unit] == 0)/|test_flash_logs|
lib/flash/ftl/mapping_log.c|s/if (\*place == place_of(map, log, slot))/if (true)/|test_flash_logs|
lib/flash/ftl/mapping_log.c|s/logical_of(map, slot ? log->unit_of_slot\[0\] : unit))/logical_of(map, unit))/|test_flash_logs|
lib/flash/ftl/mapping_log.c|s/log->set != set)/false)/|test_flash_logs|
lib/flash/ftl/mapping_striped.c|s/clean_one(map, i, from_ns)/clean_one(map, 0, from_ns)/|test_flash_interleave|
lib/report/advice/recipes.c|s/is->page >= is->lba/true/|test_advised|
lib/device/plugin/plugin.c|s/!plugin->child.geometry.has_fua;/true;/|test_plugin|
lib/device/plugin/plugin.c|s/    store_spoil(plugin->store, at, length_bytes);/    (void)at;/|test_plugin|
lib/device/identity/declared.c|s/format\[0\] == 0 \&\&/true \&\&/|test_declared|
lib/flash/ftl/victim_greedy.c|s/ledger->lowest_valid++;/ledger->lowest_valid += 64;/|test_flash_cleaning|
lib/flash/controller/write_cache.c|s/read_buffer_drop(cache->first, \*evicted);//|test_flash|
lib/flash/controller/write_cache.c|s/read_buffer_insert(cache->second, unit);/read_buffer_drop(cache->second, unit);/|test_flash|
lib/infer/study.c|s/!is_said(findings, first,/!is_said(findings, 0 * first,/|test_study|
lib/infer/study.c|s/own.write_budget_bytes \/= probe->budget_parts;/(void)0;/|test_probes_stick|basic
lib/infer/study.c|s/budget + aside_most_bytes);/budget + 99 * aside_most_bytes);/|test_probes_stick|basic
lib/infer/study.c|s/reads = probe->surveys;/reads = 0 * probe->surveys;/|test_survey|
probes/alignment/alignment.c|s/            step_ns \/ 2)/            2 * step_ns)/|test_probes_reads|
probes/alignment/alignment.c|s/ns\[ACROSS\]\[i\] - (over/ns[BEHIND][i] - (over/|test_probes_reads|
probes/mapping_reach/mapping_reach.c|s/MIB, 256 \* KIB, read_bytes/MIB, read_bytes/|test_probes_reads|
probes/mapping_reach/mapping_reach.c|s/< MIB ? SAMPLES \/ 2 :/< MIB ? SAMPLES \/ 8 :/|test_probes_reads|
probes/mapping_reach/mapping_reach.c|s/entries + entries \/ 2, entries + 2/entries, 0/|test_probes_reads|
probes/mapping_reach/mapping_reach.c|s/is_even = span_bytes < whole_span(setting)/is_even = false/|test_probes_reads|
probes/mapping_reach/mapping_reach.c|s/kinds_least = 2;/kinds_least = 0.5;/|test_probes_trust|
probes/mapping_reach/mapping_reach.c|s/entry_least_bytes = 128/entry_least_bytes = 1024/|test_probes_trust|
probes/mapping_reach/mapping_reach.c|s/anywhere ? 1 - /anywhere ? 1 - 0 * /|test_probes_trust|
probes/stripe/pairs.c|s/\.depth = 2});/.depth = 1});/|test_stripe|
probes/stripe/stripe.c|s/serial_least = 1.9/serial_least = 2.1/|test_stripe|
probes/stripe/search.c|s/own_least = 0.9/own_least = 9/|test_stripe|
probes/stripe/stripe.c|s/waits_least = 1.1/waits_least = 11/|test_stripe|
probes/stripe/search.c|s/1 - off \/ unit/1 - off \/ unit \/ 2/|test_stripe|
probes/stripe/search.c|s/full_least = 0.97/full_least = 0.5/|test_stripe|
lib/oracle/seen_stripe.c|s/serial_least = 1.92/serial_least = 2.2/|test_stripe|
probes/write_buffer/follow.c|s/small_step_confidence = 0.85/small_step_confidence = 0.999/|test_probes_kim|recovery
probes/clustered_page/clustered_page.h|s/page_effect_confidence = 0.85/page_effect_confidence = 0.999/|test_probes_kim|recovery
probes/clustered_page/certify.c|s/SIDE_ABOVE, page_effect_low, page_effect_low, NULL/SIDE_ABOVE, -9, -9, NULL/|test_probes_kim|recovery
probes/clustered_page/certify.c|s/(multiple % 2 ? 2 : 1) \* page_bytes,/page_bytes,/;s/^ *2 \* size, SIDE_BELOW/size, SIDE_BELOW/|test_probes_kim|recovery
probes/clustered_page/clustered_page.c|s/merge_hides = 0.4055/merge_hides = 0.2231/|test_probes_kim|recovery
probes/clustered_page/stairs.c|s/steps_of(state, 7, 2/steps_of(state, 1, 2/|test_probes_kim|recovery
probes/clustered_page/stairs.c|s/page_shifted(page_bytes \/ 2 + state->block_bytes/page_shifted(page_bytes/|test_probes_kim|recovery
probes/clustered_page/stairs.c|s/contrast.n\[PAGE_PITCH\] = page_bytes;/(void)page_bytes;/|test_probes_kim|recovery
probes/clustered_page/certify.c|s/&& limit % page_bytes;/\&\& false;/|test_probes_kim|recovery
probes/clustered_page/certify.c|s/median > 0.5 \* long_none/median > 9/|test_probes_kim|recovery
probes/clustered_page/clustered_page.c|s/state->whole_bytes = block_bytes;/(void)block_bytes;/|test_probes_kim|recovery
probes/clustered_page/certify.c|s/? CLAIM_OPEN/? CLAIM_FALLS/|test_shifts|
probes/clustered_page/certify.c|s/least_share = 1.0 \/ 3;/least_share = 0.25;/|test_shifts|
probes/clustered_page/certify.c|s/least_share = 1.0 \/ 3;/least_share = 0.5;/|test_shifts|
probes/clustered_page/certify.c|s/gain_most = 0.06/gain_most = 0.04/|test_shifts|
probes/clustered_page/certify.c|s/gain_most = 0.06/gain_most = 0.08/|test_shifts|
probes/clustered_page/parts.c|s/threshold = fmin(.*/threshold = 9;/;s/median > page_effect_most/median > 9/|test_probes_kim|recovery
probes/clustered_block/borders.c|s/part_bytes > 0) {/part_bytes > UINT64_MAX \/ 2) {/|test_probes_kim|recovery
probes/clustered_page/clustered_page.c|s/BLOCK_PAGES_LEAST = 8/BLOCK_PAGES_LEAST = 2/|test_probes_kim|recovery
probes/read_buffer/parts.c|s/part_gain_least = 0.1;/part_gain_least = 10;/|test_probes_kim|recovery
probes/read_buffer/parts.c|s/if (edge->high_bytes >= most_bytes)$/if (2 * first_bytes > most_bytes)/|test_probes_kim|recovery
probes/read_buffer/read_buffer.c|s/!survey->any && survey->open/false/|test_probes_kim|recovery
probes/read_buffer/cells.c|s/8 \* MIB + MIB/32 * MIB + MIB/|test_probes_kim|recovery
probes/write_buffer/write_buffer.c|s/split_least = 0.05/split_least = 0.5/|test_probes_kim|recovery
probes/write_buffer/write_buffer.c|s/split_least = 0.05/split_least = -0.5/|test_probes_kim|recovery
probes/write_buffer/line.c|s/size = next_size(size, most)/size *= 2/|test_probes_kim|recovery
probes/write_buffer/write_buffer.c|s/command_most_log = 1.3863/command_most_log = 13/|test_probes_kim|recovery
probes/write_buffer/write_buffer.c|s/command_most_log = 1.3863/command_most_log = -13/|test_probes_kim|recovery
probes/write_buffer/write_buffer.c|s/again_less = 0.1/again_less = 9/|test_probes_kim|recovery
probes/clustered_page/clustered_page.h|s/stream_dear = 0.1823/stream_dear = 9/|test_streams|
probes/streams.h|s/burst_most = 0.5/burst_most = 50/|test_streams|
probes/clustered_page/stream_cells.c|s/? 16 : 48)/? 1 : 1)/|test_streams|
probes/streams.c|s/fmax(burst.held,$/fmin(0,/|test_streams|
probes/streams.c|s/(double)(at + 1) - burst.drained/(double)(at + 1)/|test_streams|
probes/streams.c|s/>= stream_burst_most \* burst.later_ns/>= 0/|test_streams|
probes/log_list/beyond.c|s/merge_none = 0.2231/merge_none = 9/|test_streams|
probes/log_list/beyond.c|s/in_order ? n\[LENGTH\] : n\[PITCH\]/n[LENGTH]/;s/stream_choose(trial, &stream, in_order)/stream_choose(trial, \&stream, true)/|test_streams|
probes/content/beyond.c|s/same_most = 0.1398/same_most = 9/|test_streams|
probes/content/beyond.c|s/own.content = contents/own.content = 0 * contents/|test_streams|
probes/write_buffer/bursts.c|s/fmax(3 \* held, WRITES_LEAST)/WRITES_LEAST/|test_streams|
probes/clustered_page/saturated.c|s/below_least = 0.5/below_least = 0/|test_streams|
probes/streams.c|s/\.depth = BURST_DEPTH/.depth = 1/|test_streams|
probes/clustered_page/rest.c|s/interval.low > 0)/interval.low > 9)/|test_probes_kim|recovery
probes/clustered_page/rest.c|s/confidence = fmin(confidence, page_small_confidence)/confidence += 0/|test_probes_kim|recovery
lib/session/run/rehearsal.c|s/longer_most = 10, requests_least = 20000/longer_most = 1, requests_least = 0/|test_budget|
lib/session/run/rehearsal.c|s/queued_ns, clock->now_ns - clock->alone_ns/0, 0 * queued_ns/|test_imagined|
lib/session/run/step.c|s/fmax(session->shown_share, /fmax(0, /|test_session|
lib/session/forecast/costs.c|s/costs->place.flush != COST_FLUSH_NOTHING) {/false) {/|test_imagined|
lib/session/forecast/costs.c|s/about_page->verdict == VERDICT_ABSENT/false/|test_imagined|
lib/session/forecast/costs.c|s/^    if (speedup <= 0)$/    if (depth)/|test_imagined|
lib/session/run/rehearsal.c|s/unit_usual_bytes = 16 . KIB/unit_usual_bytes = GIB/|test_imagined|
lib/session/forecast/imagined.c|s/wait_share = 0.2/wait_share = 0/|test_imagined|
lib/session/forecast/costs.c|s/= kept \* costs->wait_ns/= 0 * costs->wait_ns/|test_imagined|
lib/session/forecast/imagined.c|s/again_most = 0.8/again_most = 0.95/|test_imagined|
lib/session/forecast/imagined.c|s/jump_least = 1.5/jump_least = 1e9/|test_imagined|
lib/session/forecast/imagined.c|s/longer_most = 2/longer_most = 1e9/|test_imagined|
lib/session/forecast/imagined.c|s/merge_least = 2/merge_least = 1e9/|test_imagined|
lib/session/forecast/imagined.c|s/spare_usual = 0.09/spare_usual = 0.9/|test_imagined|
lib/session/forecast/imagined.c|s/fmax(slope, 0)/0 * slope/|test_imagined|
lib/session/forecast/imagined.c|s/pages_of(drive)) % 2/pages_of(drive) + random_u64(\&drive->random)) % 2/|test_imagined|
lib/session/forecast/imagined.c|s/drive->flush_share = factor;/drive->flush_share = 1;/|test_imagined|
lib/session/state/pilot.c|s/saw_page = true/saw_page = false/|test_budget|one drive
lib/session/state/pilot.c|s/shift_least = 1.05/shift_least = 0.5/|test_budget|one drive
lib/session/state/pilot.c|s/costs_learn_together(pilot->costs, \&sample)/(void)sample/|test_budget|one drive
lib/session/run/learn.c|s/    if (piloted)$/    if (piloted + 1)/|test_budget|one drive
lib/session/state/pilot.c|s/at + apart_bytes, size_bytes/at, size_bytes/|test_budget|one drive
lib/session/state/pilot.c|s/size <= read_most_bytes; size \*= 2/size <= read_most_bytes; size *= 8/|test_budget|one drive
lib/session/run/infer.c|s/!is_asked(&step/step.label.round == 0 \&\& !is_asked(\&step/|test_rows|
lib/session/state/written.c|s/false_alarm = 1.2e-6/false_alarm = 0.9/|test_session|
lib/session/state/written.c|s/false_alarm = 1.2e-6/false_alarm = 1e-30/|test_session|
lib/session/state/written.c|s/own\[rank - 1\]/own[own_count - 1]/|test_session|
lib/device/device.c|s/length <= size - (offset - start)/length <= size/|test_device|
lib/device/device.c|s/if (!device->write)$/if (false)/|test_device|
lib/device/device.c|s/limits->write_budget_bytes - device->counters.written_bytes)/limits->write_budget_bytes)/|test_device|
lib/device/device.c|s/    if (io->kind == IO_READ)$/    if (io->kind != IO_WRITE)/|test_device|
lib/device/device.c|s/device->seen_again = false; .\* a reset.*/;/|test_device|
lib/device/device.c|/device->limits = \*limits;/{n;s/device->seen_again = false;//}|test_interlocks|
lib/device/device.c|s/ \&\& io->kind != IO_DISCARD)/)/|test_interlocks|
lib/device/block/block.c|s/error == -ENOSPC;/false;/|test_device|a disk that goes
lib/device/block/block.c|s/? 100 : 0/? 1 : 0/|test_device|a disk that goes
lib/device/block/block.c|s/error == -EPERM \&\& ioctl/false \&\& ioctl/|test_device|a disk that goes
lib/device/interlocks/pin.c|s/if (pin->number != now->number)/if (false)/|test_interlocks|
lib/device/interlocks/pin.c|s/if (strcmp(pin->serial, now->serial) != 0)/if (false)/|test_interlocks|
lib/device/interlocks/pin.c|s/if (strcmp(pin->wwid, now->wwid) != 0)/if (false)/|test_interlocks|
lib/device/interlocks/interlock_use.c|s/    if (other) {/    if (false) {/|test_interlocks|
lib/device/interlocks/interlock_contents.c|s/if (subject->writes \&\& is_zoned)/if (false)/|test_interlocks|
lib/device/interlocks/interlock_contents.c|s/    if (!health->failing)/    if (true)/|test_interlocks|
lib/device/interlocks/interlock_contents.c|s/    if (result == 0)/    if (result <= 0)/|test_interlocks|
lib/device/interlocks/users.c|s/        unescape(path);/        ;/|test_interlocks|
lib/device/interlocks/users.c|s/    unescape(rest + source_start);/    ;/|test_interlocks|
lib/device/interlocks/users.c|s/find_mounts(tree, "\/proc\/1\/mountinfo", claim)/0/|test_interlocks|
lib/device/interlocks/users_file.c|s/return file->born_ns == other->born_ns/return false/|test_users_file|
lib/device/interlocks/users_file.c|s/result = look_into(look, path)/result = 0 * look->for_writing/|test_interlocks|
lib/base/walk.c|s/if (!is_common ||/if (true ||/|test_replace|
lib/session/keep/run_dir.c|s/if (own \&\& walk_check_own/if (false \&\& walk_check_own/|test_run_dir|
lib/session/keep/preserve.c|s/i < ROUNDS \&\& /false \&\& /|test_preserve|
lib/session/keep/preserve.c|s/if (putting->states\[i\] == WRITTEN)/if (false)/|test_preserve|
lib/session/keep/preserve.c|s/if (error \&\& error != -EOPNOTSUPP)/if (false)/|test_preserve|
lib/session/keep/preserve.c|s/putting->error == -ENODEV/false/|test_preserve|
lib/session/run/run.c|s/if (!session->options.read_only)$/if (true)/|test_session|
lib/session/run/run.c|s/\.region_offset_bytes = session->setting.region_offset_bytes,/.region_offset_bytes = 0,/|test_session|
lib/session/run/run.c|s/options.write_budget_bytes - session->written_before_bytes/options.write_budget_bytes/|test_budget|the end of a budget
lib/session/run/plan.c|s/smaller_of(own->bytes_written_max,/larger_of(0,/|test_budget|the end of a budget
lib/session/run/resume.c|s/sample->operation == OPERATION_DISCARD)/false)/|test_budget|the end of a budget
lib/session/run/resume.c|s/larger_of(written_bytes, session->options.written_before_bytes)/written_bytes/|test_budget|the end of a budget
probes/clustered_block/borders.c|s/drop_least = 0.1/drop_least = 3/|test_probes_kim|recovery
probes/clustered_block/borders.c|s/outranks_most = 4.5/outranks_most = 35/|test_across|
probes/clustered_block/borders.c|s/outranks_most = 4.5/outranks_most = 1/|test_across|
probes/clustered_block/borders.c|s/EVERY_MOST = 8,/EVERY_MOST = 7,/|test_across|
probes/clustered_block/borders.c|s/SIDE_BELOW, border_least/SIDE_ABOVE, border_least/|test_probes_kim|recovery
probes/read_buffer/read_buffer.c|s/survey->any \&\& survey->last > last/false/|test_probes_kim|recovery
probes/read_buffer/parts.c|s/shown->bytes + state->grain_bytes;/shown->bytes + 2 * state->grain_bytes;/|test_probes_kim|recovery
probes/read_buffer/cells.c|s/pitch += state->page_bytes - pitch/pitch += 0 * pitch/|test_probes_kim|
probes/clustered_block/walk.c|s/STALLS_MAX = 2,/STALLS_MAX = 20,/|test_budget|one drive
probes/clustered_block/compare.c|s/counter->items\[i\].length < counter->items\[0\].length)/true)/|test_probes_kim|recovery
probes/clustered_block/compare.c|s/parting->shortest < PERIOD_SHORTEST/false/|test_probes_kim|recovery
probes/clustered_block/compare.c|s/AGREED_LEAST = 3/AGREED_LEAST = 1/|test_probes_kim|recovery
probes/clustered_block/counter.c|s/(cut->gather_count \* pages \* page + unit - 1) \/ unit \* unit/pages * page/|test_counter|
probes/clustered_block/counter.c|s/(steady .. !cut->scattered)/true/|test_counter|
probes/clustered_block/counter.c|s/2 \* (double)model->page_bytes/1 * (double)model->page_bytes/|test_counter|
probes/clustered_block/counter.c|s/(b < 2 \* a .. other->length < one->length)/true/|test_counter|
probes/clustered_block/counter.c|s/item->length >= 2 \* first/item->length > 0/|test_counter|
probes/inter_request_distance/inter_request_distance.c|s/held_spreads = 3.5;/held_spreads = 350;/|test_probes_stick|recovery
probes/clustered_block/compare.c|s/longest_of_unseen_bytes = 32 /longest_of_unseen_bytes = 4 /|test_probes_kim|recovery
probes/clustered_block/compare.c|s/longest_of_unseen_bytes = 32 /longest_of_unseen_bytes = 1024 /|test_budget|all drives
probes/clustered_block/pauses.c|s/if (2 \* slow_count > PAUSES/if (2 * slow_count + 9 > PAUSES/|test_probes_kim|recovery
probes/clustered_block/say.c|s/lasting_confidence = 0.95/lasting_confidence = 0.999/|test_probes_kim|recovery
probes/clustered_block/pauses.c|s/faster_most = 0.85/faster_most = 0.05/|test_probes_kim|recovery
probes/clustered_block/pauses.c|s/return slow_count \* 2 \* busy_count >$/return 0 >/|test_pauses|
probes/clustered_block/pauses.c|s/return slow_count \* 2 \* busy_count >$/return slow_count * 2 * busy_count >=/|test_pauses|
probes/clustered_block/pauses.c|s/slow_ratio = 4;/slow_ratio = 5;/|test_pauses|
probes/clustered_block/pauses.c|s/ - 1) \/ 4\]/ - 1) \/ 2]/|test_pauses|
probes/clustered_block/pauses.c|s/ - 1) \/ 4\]/ - 1) \/ 8]/|test_pauses|
probes/clustered_block/pauses.c|s/slow_share = 0.5/slow_share = 0.6/|test_pauses|
probes/content/content.c|s/moved_least = 0.4055, moved_none = 0.2/moved_least = -1, moved_none = -2/|test_probes_stick|recovery
lib/infer/finding.c|s/verdict != VERDICT_ABSENT)/verdict == VERDICT_ABSENT)/|test_probes_kim|recovery
probes/clustered_block/compare.c|s/same_most = 0.1,/same_most = 0.15,/|test_across|
probes/clustered_block/compare.c|s/same_most = 0.1,/same_most = 0.06,/|test_across|
probes/clustered_block/compare.c|s/dearer_least = 0.2624/dearer_least = 0.22/|test_across|
probes/clustered_block/compare.c|s/dearer_least = 0.2624/dearer_least = 0.32/|test_across|
probes/clustered_block/compare.c|s/all_least = 0.8/all_least = 0.7/|test_across|
probes/clustered_block/compare.c|s/all_most = 1.2/all_most = 1.3/|test_across|
probes/clustered_block/compare.c|s/half_most = 0.65/half_most = 0.75/|test_across|
probes/clustered_block/compare.c|s/fmin(within_count,/fmax(within_count,/|test_across|
probes/content/content.c|s/whole_least = 0.6/whole_least = 1.2/|test_probes_stick|
probes/content/content.c|s/i == 0 ? SIDE_ABOVE : SIDE_BELOW/SIDE_OPEN/|test_probes_stick|recovery
probes/content/content.c|s/share_least = 0.25/share_least = 0.6/|test_probes_stick|
probes/content/content.c|s/share_least = 0.25/share_least = 0.02/|test_probes_stick|
probes/content/content.c|s/larger_least = 1.5, larger_most = 1.25/larger_least = 15, larger_most = 12/|test_probes_kim|recovery
probes/content/content.c|s/larger_least = 1.5, larger_most = 1.25/larger_least = 0.5, larger_most = 0.4/|test_probes_stick|recovery
probes/content/content.c|s/waited_least = 0.1823/waited_least = -9/|test_probes_kim|recovery
probes/content/blocks.c|s/moving\[moved \/ 4\]/moving[moved \/ 2]/|test_waited|
probes/content/blocks.c|s/moving\[moved \/ 4\]/moving[moved \/ 8]/|test_waited|
probes/content/blocks.c|s/moving\[moved \/ 4\]/moving[moved - 1]/|test_waited|
probes/content/content.c|s/share_of_banks = 0.1/share_of_banks = 0.25/|test_probes_kim|recovery
probes/content/content.c|s/fraction_most = 0.1/fraction_most = 0.4/|test_probes_stick|recovery
probes/content/content.c|s/^ *claim = CLAIM_OPEN;/;/|test_probes_stick|recovery
probes/content/content.c|s/claim == CLAIM_OPEN/false/|test_probes_stick|recovery
probes/content/content.c|s/\*index = likelier(.*);/*index = PARTS_COUNT;/|test_probes_stick|recovery
probes/content/blocks.c|s/return smaller_of(blocks_count(state, contents), larger_of(most, contents));/return blocks_count(state, contents) + 0 * most;/|test_probes_stick|recovery
lib/flash/controller/serve_write.c|s/flash->passes_buffer = true;/;/|test_flash|
lib/flash/controller/serve_write.c|s/ uint64_t room_ns = serve_drain(.*);/ uint64_t room_ns = begin_ns;/|test_flash|
lib/flash/controller/serve.c|s/flash->passes_buffer = flash->wrote = false;/flash->wrote = false;/|test_flash|
lib/flash/controller/serve_discard.c|s/(request->offset_bytes + bytes - 1) \/ bytes/request->offset_bytes \/ bytes/|test_flash_commands|
lib/flash/controller/serve_discard.c|s/flash->mapping->ops->discard(flash->mapping, unit);/(void)unit;/|test_flash_commands|
lib/flash/controller/serve_discard.c|s/random_mix(page)) \& 1/random_mix(page)) \& 3/|test_flash_commands|
lib/flash/controller/serve_write.c|s/flash->write_buffer \&\& !safe \&\&/flash->write_buffer \&\&/|test_flash_commands|
lib/flash/controller/serve_write.c|s/link_bytes = way.no_data ? 0 :/link_bytes =/|test_flash_commands|
lib/flash/controller/write_buffer.c|s/^    hash_all(buffer);/    (void)hash_all;/|test_flash_commands|
lib/flash/disturbance/faults.c|s/if (from < to)/if (false)/|test_flash_commands|
lib/flash/disturbance/faults.c|s/at %= faults->wrap_bytes;/at %= faults->wrap_bytes \/ 2;/|test_flash_commands|
lib/flash/disturbance/faults.c|s/? faults->wrap_bytes : real;/? UINT64_MAX : real;/|test_flash_commands|
lib/flash/disturbance/faults.c|s/request->length_bytes > faults->real_bytes)/request->length_bytes > 2 * faults->real_bytes)/|test_flash_commands|
lib/flash/drive/check.c|s/while (wrap <= drive->real/while (wrap < drive->real/|test_flash_commands|
lib/flash/drive/check.c|s/return drive->real_capacity_bytes \&\& real/return false \&\& real/|test_flash_commands|
lib/flash/controller/serve.c|s/if (piece.place == PLACE_FLASH)$/if (true)/|test_flash_commands|
lib/flash/controller/serve.c|s/piece->done_bytes -= all_bytes - piece/piece->done_bytes += 0 * piece/|test_flash_commands|
probes/capacity/capacity.c|s/    else if (!keeps_now(state, "last"/    else if (false \&\& !keeps_now(state, "last"/|test_probes_trust|
probes/capacity/capacity.c|s/        keeps_now(state, "end", end_bytes)) {/        true) {/|test_probes_trust|
probes/capacity/capacity.c|s/return \*kept_end_bytes <= \*first_lost_bytes;/return true;/|test_probes_trust|
probes/capacity/capacity.c|s/           first_lost_bytes == size_bytes;/           true;/|test_probes_trust|
lib/oracle/retell.c|s/truth->value) == 0 ? now : NULL;/truth->value) == 0 ? now : now;/|test_random|
lib/oracle/retell.c|s/^        return truth->value;/        return now;/|test_random|
lib/oracle/retell.c|s/change == CHANGE_NOISE ? truth->value : NULL;/truth->value;/|test_random|
lib/oracle/truths.c|s/noisy->silent_after_bytes = 0;/0;/|test_random|
lib/oracle/truths.c|s/        seen = (period \& (period - 1)) == 0;/        seen = true;/|test_random|
lib/flash/ftl/freeing.c|s/freeing->done_ns + freeing->unit_ns > now_ns/freeing->done_ns > now_ns/|test_flash_commands|
lib/flash/ftl/freeing.c|s/freeing->done_ns < now_ns)/false)/|test_flash_commands|
lib/flash/ftl/freeing.c|s/    (void)next_run(freeing);/    ;/|test_flash_commands|
lib/flash/controller/serve_discard.c|s/    freeing_keep(flash->freeing/    (void)freeing_keep, (void)(flash->freeing/|test_flash_commands|
lib/flash/controller/serve_discard.c|s/memset(ones, 0xff/memset(ones, 0/|test_flash_commands|
probes/trim/trim.c|s/if (ones > 0 \&\& ones == count)/if (false)/|test_probes_trust|
lib/flash/disturbance/noise.c|s/noise->heat_ns < noise->throttle_heat_ns\[i\] \/ 2/noise->heat_ns < noise->throttle_heat_ns[0] \/ 2/|test_flash_noise|
lib/flash/disturbance/noise.c|s/i < DRIVE_THROTTLES_MAX \&\&/i < 1 \&\&/|test_flash_noise|
lib/flash/disturbance/faults.c|s/return faults->is_silent \&\& changes/return false \&\& changes/|test_flash_commands|
lib/flash/disturbance/faults.c|s/written_bytes > faults->silent_after_bytes/written_bytes >= faults->silent_after_bytes/|test_flash_commands|
lib/flash/controller/late.c|s/page + count) ==$/page + count) >=/|test_flash_commands|
lib/flash/controller/late.c|s/        if (read_buffer_find(late->pages, page))/        if (read_buffer_slot(late->pages, page) != READ_BUFFER_NONE)/|test_flash_commands|
lib/flash/controller/late.c|s/        if (store)$/        if (false)/|test_flash_commands|
lib/flash/controller/map_cache.c|s/    if (cache->host \&\& read_buffer_oldest/    if (false \&\& read_buffer_oldest/|test_flash_today|
lib/flash/controller/map_cache.c|s/drive_fetch_units(drive);/1024;/|test_flash_today|
lib/flash/controller/serve_map.c|s/        map_cache_lose_host(.*/        (void)until_ns;/|test_flash_today|
lib/flash/controller/map_cache.c|s/        return MAP_CACHE_OWN;/        return MAP_CACHE_FLASH;/|test_flash_today|
lib/flash/controller/serve_map.c|s/known_ns = read_map(flash, map_page, begin_ns);/(void)read_map;/|test_flash_today|
lib/flash/disturbance/noise.c|s/            wake_ns = noise->wake_ns\[i\];/            wake_ns += noise->wake_ns[i];/|test_flash_today|
lib/flash/controller/in_flight.c|s/in_flight->bytes -= heap\[0\].bytes;/in_flight->bytes = 0;/|test_flash_today|
lib/flash/controller/serve_write.c|s/^        send_off_whole(flash, run->unit, arrived);/        (void)send_off_whole;/|test_flash_today|
lib/flash/controller/serve.c|s/flash->drive.write_buffer_protected)$/false)/|test_flash_today|
lib/flash/controller/serve.c|s/flush_lies \&\& !flash->drive.write_buffer_protected)/flush_lies)/|test_flash_today|
lib/flash/controller/serve.c|s/return flash->command_free_ns + \(.*\);/return flash->command_free_ns += \1;/|test_flash_today|
lib/flash/controller/serve.c|s/has_work = flash->wrote;/has_work = true;/|test_flash_today|
lib/flash/nand/interleave_banks.c|s/later(il->now_ns, \*controller_ns) + done->controller_ns/il->now_ns/|test_flash_queues|
lib/flash/nand/interleave_banks.c|s/kind != STEP_READ \&\& !il->cache_program/kind != STEP_READ/|test_flash_queues|
lib/flash/nand/interleave.c|s/own ? il->least_work_ns : link_ns/9 * il->least_work_ns/|test_flash_queues|
lib/flash/nand/array.c|s/spot->block << 32/0U * spot->block/|test_flash_slc|
lib/flash/nand/interleave.c|s/il->suspended_count > 0 \&\&/false \&\&/|test_flash_queues|
lib/flash/nand/interleave.c|s/: il->least_program_ns/: 9 * il->least_program_ns/|test_flash_queues|
lib/flash/nand/interleave_banks.c|s/job->chore \&\& !job->drains ?/job->chore ?/|test_flash_queues|
lib/flash/nand/interleave_jobs.c|s/(job->flushes \&\& at != il->oldest)/false/|test_flash_buffered|
lib/flash/nand/interleave_jobs.c|s/^    return at != NONE;/    return false;/|test_flash_buffered|
lib/flash/nand/agenda.h|s/ns >= agenda->last_ns\[lane\]/true/|test_flash_queues|
lib/flash/controller/serve.c|s/^        array_[be][a-z]*_chore(&flash.*/        ;/|test_flash_queues|
lib/flash/nand/interleave_jobs.c|s/        job->linger_ns = 0;/        job->linger_ns = 0, job->least_ns = 0;/|test_flash_today|
lib/flash/disturbance/faults.c|s/faults->is_protected)/false)/|test_flash_today|
lib/flash/nand/array_make.c|s/i >= drive->program_pages_count/true/|test_flash_layout|
probes/read_buffer/cells.c|s/(uint64_t at = touch_first_bytes;/(uint64_t at = UINT64_MAX;/|test_probes_reads|
lib/flash/nand/layout.c|s/waiting == 0 && (page + 1) % unit_pages == 0/waiting == 0/|test_flash_layout|
lib/flash/nand/layout.c|s/radices\[SECTION\] = .*/radices[SECTION] = 1;/|test_flash_layout|
lib/flash/nand/layout.c|s/values\[PLANE\] \* radices\[SECTION\] + values\[SECTION\]/values[PLANE]/|test_flash_layout|
lib/flash/ftl/mapping_slc.c|s/map->filled > blocks_now(map))/false)/|test_flash_slc|
lib/flash/ftl/mapping_slc.c|s/i < map->turn_blocks_count/i < 1/|test_flash_slc|
lib/flash/ftl/mapping_slc.c|s/drive->slc_shrink_from_permille/0 * &/|test_flash_slc|
lib/flash/ftl/mapping_slc.c|s/slc_slow\[open\] = .*/slc_slow[open] = false;/|test_flash_slc|
lib/flash/ftl/mapping_slc.c|s/        map->used_count--;/        (void)map;/|test_flash_today|
lib/flash/ftl/mapping_slc.c|s/        map->used_count++;/        (void)map;/|test_flash_today|
lib/oracle/truths.c|s/= INITIAL_WRITTEN;/= drive->initial_state;/|test_random|
lib/oracle/seen_buffers.c|s/order == UPWARDS)/order <= DOWNWARDS)/|test_random|
lib/oracle/seen_pages.c|s/cached = cached_bytes(bench->drive)/cached = 0 * unit/|test_random|
lib/oracle/seen_pages.c|s/given->mapping != MAPPING_LOG_BLOCK/false/|test_random|
lib/oracle/seen_buffers.c|s/return leaves(filling, beyond, &pause)/return true/|test_random|
lib/oracle/seen_buffers.c|s/!leaves(filling, beyond, &at_once)/false/|test_random|
probes/write_buffer/flush.c|s/return i == 0 ? FLUSHING_BUFFERED/return i < FLUSH_SIZES ? FLUSHING_BUFFERED/|test_probes_kim|
probes/write_buffer/flush.c|s/SIDE_ABOVE);$/SIDE_BELOW);/|test_probes_kim|recovery
probes/write_buffer/follow.c|s/state->part_bytes = state->study.setting.request_limit_bytes;//|test_probes_kim|recovery
probes/write_buffer/follow.c|s/< 2 \* fit->sizes/< 0 * fit->sizes/|test_probes_kim|recovery
probes/write_buffer/edge.c|s/claim == CLAIM_FALLS)$/false)/|test_probes_kim|recovery
probes/write_buffer/edge.c|s/divisors\[\] = {2, 3, 5}/divisors[] = {7, 9, 11}/|test_probes_kim|recovery
probes/write_buffer/edge.c|s/most + (edge->step - 1) \/ 2/0 * most/|test_probes_kim|recovery
probes/write_buffer/edge.c|s/whole_gain = 0.03/whole_gain = 3/|test_probes_kim|recovery
probes/write_buffer/edge.c|s/(uint64_t)(edge->write_ns/(uint64_t)(9 * edge->write_ns/|test_probes_kim|recovery
probes/content/content.c|s/effect_least = 0.05/effect_least = 0.6/|test_probes_stick|
probes/content/blocks.c|s/FAR_OUT = 32/FAR_OUT = 3200/|test_probes_stick|recovery
lib/infer/statistics/stats.c|s/: (x < y) - (x > y)/: (x > y) - (x < y)/|test_infer|
probes/basic/basic.c|s/error_rate = 0.0005/error_rate = 0.1/|test_probes_stick|basic
probes/basic/basic.c|s/width_wanted = 0.02/width_wanted = 0.2/|test_probes_stick|basic
probes/basic/basic.c|s/longest_ns = 10e9/longest_ns = 10e12/|test_probes_stick|basic
probes/basic/basic.c|s/2 . sum >/sum >/|test_probes_stick|basic
probes/basic/basic.c|s/mode_share_least = 0.05/mode_share_least = 0.45/|test_probes_stick|basic
probes/basic/basic.c|s/mode_apart = 0.095/mode_apart = 0.6/|test_probes_stick|basic
probes/basic/basic.c|s/mode_apart = 0.095/mode_apart = 0.0095/|test_probes_stick|basic
probes/basic/basic.c|s/ceil(share \* (double)count)/ceil(share * 0.9 * (double)count)/|test_probes_stick|basic
probes/throughput/throughput.c|s/is_below ? knee->index - 1/true ? knee->index - 1/|test_throughput|
probes/throughput/throughput.c|s/quick_least = 0.5/quick_least = 0/|test_throughput|
probes/sustained_write/cache.c|s/back > usual ? back - usual/usual > back ? back - usual/|test_sustained_write|
probes/read_kinds.c|s/stays_least = 0.93/stays_least = 0.1/|test_levels|
probes/read_kinds.c|s/share_slack = 0.02/share_slack = 0.3/|test_levels|
probes/read_kinds.c|s/ratio_most = 3/ratio_most = 30/|test_levels|
probes/read_kinds.c|s/trimmed_share = 0.0625/trimmed_share = 0.001/|test_levels|
probes/clustered_block/pauses.c|s/copied_least = 0.5/copied_least = 0.95/|test_probes_kim|recovery
probes/clustered_block/rounds.c|s/return recurrence_is_at(costs.values, costs.count, length)/return costs.count + length > 0/|test_probes_kim|recovery
probes/nand_type/levels.c|s/hidden_least = 0.01/hidden_least = 0.1/|test_probes_kim|recovery
probes/read_buffer/read_buffer.c|s/while (survey->after == survey->count/while (false/|test_probes_kim|recovery
probes/read_buffer/cells.c|s/length_bytes <= 2 \* most_bytes/false/|test_probes_kim|recovery
probes/read_buffer/parts.c|s/if (side != SIDE_ABOVE)/if (true)/|test_probes_kim|recovery
probes/read_buffer/read_buffer.h|s/read_parts_share = 0.75/read_parts_share = 0.5/|test_probes_kim|recovery
probes/write_buffer/follow.c|s/waits == CLAIM_HOLDS .. whole/waits == CLAIM_HOLDS/|test_probes_kim|recovery
probes/write_buffer/edge.c|s/more_later = 0.1/more_later = 1/|test_probes_kim|recovery
probes/read_buffer/parts.c|s/edge->spread = spread/(void)spread/|test_probes_kim|recovery
probes/read_buffer/cells.c|s/clean_repeats_each(parts_count(&contrast))/clean_repeats(parts_count(\&contrast))/|test_probes_kim|recovery
probes/read_buffer/parts.c|s/to_the_end = true/to_the_end = false/|test_probes_kim|recovery
probes/nand_type/levels.c|s/hidden_least = 0.01/hidden_least = 0.00001/|test_probes_kim|recovery
probes/nand_type/levels.c|s/fmax(fmin(confidence, given->most), 0)/fmax(confidence, 0)/|test_levels|
probes/nand_type/levels.c|s/more_levels_confidence = 0.97/more_levels_confidence = 0.999/|test_levels|
probes/nand_type/levels.c|s/fmin(one_level_confidence, most)/one_level_confidence/|test_levels|
probes/nand_type/levels.c|s/one_level_confidence = 0.75/one_level_confidence = 0.95/|test_levels|
probes/nand_type/levels.c|s/two_levels_confidence = 0.8/two_levels_confidence = 0.95/|test_levels|
probes/nand_type/nand_type.c|s/state->sure = fmin(confidence_of(known, "clustered_page"),/state->sure = fmin(1,/|test_probes_kim|recovery
probes/nand_type/levels.c|s/unfair_least = 0.25/unfair_least = 1/|test_probes_kim|recovery
probes/log_list/blocks.c|s/shared_least = 0.3466/shared_least = 3/|test_log_sharing|
probes/log_list/blocks.c|s/if (trial->contrast->repeats % ROUND_PLACES)/if (false)/|test_log_sharing|
probes/log_list/blocks.c|s/both_ends ? begin : last - page/last - page/|test_log_sharing|
probes/log_list/settled.c|s/TURNS_A_PLACE = 3, TURNS_LEAST = 20/TURNS_A_PLACE = 0, TURNS_LEAST = 0/|test_log_sharing|
probes/log_list/stalls.c|s/agree_share = 0.8/agree_share = 1.1/|test_probes_trust|
probes/log_list/stalls.c|s/stall_least = 5/stall_least = 5e6/|test_probes_trust|
probes/log_list/log_list.c|s/merge_least = 0.2624/merge_least = 0.5878/|test_probes_stick|
probes/log_list/log_list.c|s/above_one_least = 0.1,/above_one_least = 0.4,/|test_probes_stick|recovery
probes/log_list/log_list.c|s/step_least = 0.05/step_least = 5/|test_probes_stick|recovery
probes/log_list/log_list.c|s/first_logs == 1 \&\& step == CLAIM_HOLDS/first_logs == 1/|test_probes_kim|recovery
probes/log_list/log_list.c|s/work_least = 0.05;/work_least = -5;/|test_probes_stick|recovery
probes/log_list/log_list.c|s/taken < STEADY_ROUNDS;$/true;/|test_probes_stick|recovery
probes/log_list/log_list.h|s/merge_shortest_ns = 2e6/merge_shortest_ns = 2e5/|test_probes_kim|recovery
probes/log_list/log_list.c|s/contrast->rounds_count) < log_alpha/contrast->rounds_count) < 0/|test_probes_kim|recovery
probes/log_list/log_list.c|s/log_early && logs == 1/log_early \&\& logs == 0/|test_probes_stick|recovery
probes/log_list/log_list.c|s/WIDE_PASS, PASSES }/WIDE_PASS, PASSES = 2 }/|test_probes_stick|recovery
probes/log_list/log_list.c|s/pass == REFINED_PASS/pass == PASSES/|test_probes_stick|recovery
probes/log_list/log_list.c|s/CLAIM_HOLDS \&\& contrast->side == SIDE_ABOVE/CLAIM_HOLDS/|test_probes_stick|recovery
probes/log_list/log_list.c|s/boundary ? 0U : 1U/boundary ? 1U : 0U/|test_probes_stick|recovery
probes/log_list/writes.c|s/smaller_of(log_next_place(state_of(trial), trial->random), last),/log_next_place(state_of(trial), trial->random) + 0 * last,/|test_probes_stick|recovery
probes/log_list/writes.c|s/if (state->is_wide)/if (false)/|test_probes_stick|recovery
probes/log_list/writes.c|s/EARLY_PLACES = 8,/EARLY_PLACES = 63,/|test_budget|one drive
probes/log_list/writes.c|s/n\[LOG_BLOCK\] && trial->round < LOG/n[LOG_BLOCK] \&\& false \&\& trial->round < LOG/|test_budget|one drive
probes/log_list/writes.c|s/state->holds = true/state->holds = false/|test_budget|one drive
probes/sustained_write/stack.c|s/above + 1 <= chance_most/above + 1 <= 0 * chance_most/|test_sustained_write|
probes/sustained_write/stack.c|s/return at;/return at \/ 2;/|test_sustained_write|
probes/sustained_write/cache.c|s/hot_least = 1.25/hot_least = 125/|test_sustained_write|
probes/sustained_write/cache.c|s/back_least = 0.9;/back_least = 0.4;/|test_sustained_write|
probes/rate.c|s/ \&\& !late;/;/|test_sustained_write|
probes/rate.c|s/(held_up_share > 0/(held_up_share > 2/|test_sustained_write|
probes/sustained_write/sustained_write.c|s/FOLLOWED = 2/FOLLOWED = 1/|test_sustained_write|
lib/infer/method/pace.c|s/region_parts = 3/region_parts = 16/|test_throughput|
lib/session/state/baseline.c|s/baseline->in_vain_ns = rested_ns/baseline->in_vain_ns = 0/|test_baseline|
lib/session/state/baseline.c|s/return device_idle(device, rested_ns)/return 0/|test_baseline|
probes/hot_cold/hot_cold.c|s/spare_least = 1.24/spare_least = 1.01/|test_hot_cold|
probes/hot_cold/hot_cold.c|s/width_most = 1;/width_most = 9;/|test_hot_cold|
probes/hot_cold/hot_cold.c|s/cleaning_least = 0.25/cleaning_least = 0/|test_hot_cold|
probes/hot_cold/hot_cold.c|s/return state->buffer_known /return true /|test_hot_cold|
probes/steady_state/steady.c|s/larger_of(settled_from(&w), fall)/fall/|test_steady_state|
lib/infer/statistics/resample.c|s/drawn\[random_below(&random, parts)\]++/drawn[j]++/|test_steady_state|
probes/steady_state/steady.c|s/spare_least = 0.1/spare_least = 0/|test_steady_state|
probes/steady_state/steady.c|s/behind > state->memory_blocks/true/|test_steady_state|
probes/steady_state/steady_state.c|s/hot_least = 1.25/hot_least = 125/|test_steady_state|
probes/steady_state/steady_state.c|s/stall_least = 1.5/stall_least = 0/|test_steady_state|
probes/flush/flush.c|s/work_least = 0.10/work_least = 3.10/|test_probes_trust|flush
probes/sync_writes/sync_writes.c|s/(uint32_t)(share \* count)/(uint32_t)(2 * share * count)/|test_sync_writes|
probes/sync_writes/sync_writes.c|s/if (few == 0) {/if (0) {/|test_sync_writes|
lib/oracle/seen_sync.c|s/number->seen = (double)high <= .*;/number->seen = high >= low;/|test_sync_writes|
lib/session/run/skip.c|s/kept.region_length_bytes = end_bytes/kept.region_length_bytes = 2 * end_bytes/|test_probes_trust|
probes/sync_writes/sync_writes.c|s/interval.high = fmax(interval.high, own)/(void)own/|test_sync_writes|
probes/pauses/clock.c|s/fmod(gaps\[i\].begin_ns, period_ns)/0/|test_pause_clock|
probes/pauses/pauses.c|s/if (reach_ns == 0)/if (false)/|test_pause_clock|
probes/pauses/clock.c|s/like += load->gaps/like += 0 * load->gaps/|test_pause_clock|
probes/longest_write/longest_write.c|s/behind_most = 0.25/behind_most = 25/|test_longest_write|
probes/longest_write/longest_write.c|s/fmax(state->longest_ns,/fmin(state->longest_ns,/|test_longest_write|
probes/survey.c|s/sample->returned == RETURNED_SAME \&\& survey->round/0 \&\& survey->round/|test_survey|
probes/survey.c|s/error = add_finely(survey, at);/error = 0;/|test_survey|
probes/scan/scan.c|s/, LOOKS_EACH = 2/, LOOKS_EACH = 0/|test_survey|
lib/session/run/resume.c|s/error = infer_check(rows, all, why);/error = infer_check(rows, done, why);/|test_survey|
probes/capacity/capacity.c|s/^        ask_fill(state);/        (void)ask_fill;/|test_probes_trust|capacity
probes/trim/trim.c|s/seen->old == all ? "old"/seen->old == all ? "zeros"/|test_probes_trust|trim
probes/log_list/writes.c|s/pitch_bytes >=$/pitch_bytes >= 0 */|test_probes_stick|recovery
probes/log_list/log_list.c|s/? 1 + high \/ 4 :/? high :/|test_budget|one drive
probes/log_list/writes.c|s/ROOM = 3,/ROOM = 6,/|test_probes_stick|
probes/log_list/writes.c|s/REMAINDERS = 12/REMAINDERS = 1/|test_probes_stick|
probes/log_list/writes.c|s/slots.pitch_bytes = known/slots.pitch_bytes += 0/|test_probes_stick|recovery
probes/log_list/blocks.c|s/each = log_votes_of(contrast)/each = 1/|test_probes_stick|recovery
probes/log_list/blocks.c|s/contrary_most = 0.25/contrary_most = 1.25/|test_probes_stick|recovery
probes/inter_request_distance/inter_request_distance.c|s/REPEATS_MAX = 64/REPEATS_MAX = 16/|test_probes_stick|recovery
probes/inter_request_distance/inter_request_distance.c|s/if (!long_enough)/if (true)/|test_probes_stick|recovery
probes/inter_request_distance/inter_request_distance.c|s/crossings_most = 150000/crossings_most = 1/|test_probes_stick|
probes/inter_request_distance/inter_request_distance.c|s/across != i - 1/across < -1/|test_probes_stick|recovery
probes/inter_request_distance/inter_request_distance.c|s/return run > 0 \&\& i/return false \&\& i/|test_probes_stick|
probes/inter_request_distance/inter_request_distance.c|s/2 \* SLOTS/8 * SLOTS/|test_probes_stick|recovery
probes/inter_request_distance/inter_request_distance.c|s/switch_low = 0.03, switch_none = 0.05/switch_low = 0.5, switch_none = 0.6/|test_probes_stick|
probes/large_request/large_request.c|s/depends_most = 0.08/depends_most = 0.0008/|test_probes_stick|
probes/large_request/large_request.c|s/kind == REQUEST_READS ? first : looks; /first; /|test_budget|one drive
probes/large_request/large_request.c|s/forecast_error = 2/forecast_error = 20/|test_budget|one drive
probes/read_buffer/read_buffer.c|s/certified_most_bytes = 4 \* MIB/certified_most_bytes = 64 * MIB/|test_budget|one drive
probes/times.h|s/drift_ns = 120e9/drift_ns = 0/|test_probes_stick|
probes/write_buffer/write_buffer.c|s/? CLAIM_FALLS : CLAIM_OPEN;/? CLAIM_OPEN : CLAIM_OPEN;/|test_probes_kim|recovery
lib/device/interlocks/interlock_use.c|s/(user ? 0 : O_EXCL) . O_DIRECT/O_DIRECT/|test_interlocks|
lib/device/interlocks/users.c|s/if (mount->number != tree->nodes/if (mount->number == tree->nodes/|test_interlocks|
lib/session/keep/preserve.c|s/journal_bytes(region->length_bytes) + SPARE_BYTES/SPARE_BYTES/|test_preserve|
lib/session/keep/preserve.c|s/    if (putting->bad.bytes == bad_bytes)$/    if (true)/|test_preserve|
lib/session/keep/preserve.c|s/^    if (putting->states\[number\] == UNSEEN)$/    if (true)/|test_preserve|
lib/session/keep/journal.c|s/strcmp(page + PAGE_TEXT_BYTES, check) != 0/false/|test_preserve|
lib/session/keep/journal.c|s/return digest == extent->digests\[0\]\[unit\]/return true/|test_preserve|
lib/session/run/run.c|s/smaller_of(counters.written_bytes, budget_bytes)/0/|test_budget|the end of a budget
probes/content/content.c|s/look_at_moving(state, &content_moved_front) == SIDE_ABOVE/false/|test_probes_stick|recovery
probes/write_buffer/flush.c|s/\*first_bytes = sizes\[i\];/*first_bytes = sizes[0];/|test_probes_kim|recovery
probes/write_buffer/follow.c|s/waits == CLAIM_OPEN \&\& !state->everywhere/false/|test_probes_kim|recovery
probes/write_buffer/follow.c|s/buffer_stands_slowly(state, edge) != CLAIM_HOLDS/false/|test_probes_kim|recovery
probes/basic/basic.c|s,times->count - times->count / 50,times->count,|test_probes_stick|basic
probes/read_buffer/edge.c|s/? half_of_smallest/? NULL/|test_probes_kim|recovery
probes/log_list/log_list.c|s/if (\*logs == first_logs .. (first_logs == 1 \&\& step == CLAIM_HOLDS))/if (true)/|test_probes_kim|recovery
probes/log_list/blocks.c|s/(contrast->expected == SIDE_ABOVE)/(contrast->expected != SIDE_ABOVE)/|test_probes_stick|
probes/large_request/large_request.c|s/off_most = 0.10/off_most = 0/|test_probes_stick|
lib/session/run/plan.c|s/needed_bytes += plan/needed_bytes += 0 * plan/|test_budget|the end of a budget
lib/session/run/plan.c|s/(part->passed/(false/|test_budget|the end of a budget
probes/flush/flush.c|s/ \&\& behind) {/ \&\& false) {/|test_probes_trust|
lib/twin/rows/rows.c|s/sent_ns >= event_ns/sent_ns > event_ns/|test_twin|replay
lib/twin/rows/align.c|s/from\[group\[i\]\] = sorted/from[group[i]] = group/|test_twin|replay
lib/twin/rows/thin.c|s/pass->left == 0 && row->quiet/pass->left == 0/|test_twin|replay
lib/twin/noise.c|s/4 \* before < rows/before < rows/|test_twin|replay
lib/twin/rows/rows.c|s/observed_ns \/ heat/observed_ns * heat/|test_twin|replay
lib/twin/shape.c|s/{"1", "32", "256"}/{"32", "256"}/|test_twin|fit
END
}

# Ends in 0 when the suite of the mutant fails.
killed()
{
    local file=$1 expression=$2 suite=$3 case=$4
    cp -- "$scratch/tree/$file" "$scratch/kept"
    sed -i -- "$expression" "$scratch/tree/$file"
    if cmp -s -- "$scratch/kept" "$scratch/tree/$file"; then
        echo "the expression changes nothing" >"$scratch/said"
        return 1
    fi
    if ! cmake --build "$scratch/build" --target "$suite" \
        >"$scratch/said" 2>&1; then
        return 1
    fi
    # An empty name would choose no case at all.
    local chosen=()
    [[ -z $case ]] || chosen=("CK_RUN_CASE=$case")
    ! env "${chosen[@]}" timeout 900 "$scratch/build/$suite" \
        >"$scratch/said" 2>&1
}

mkdir -p "$scratch/tree" "$scratch/suites"
cp -a -- "$source_dir"/{CMakeLists.txt,CMakePresets.json,LICENSE,cmd,lib,plots,probes,tests} \
    "$scratch/tree/"
cmake -G Ninja -S "$scratch/tree" -B "$scratch/build" \
    -DCMAKE_BUILD_TYPE=Release \
    "-DCMAKE_C_COMPILER_LAUNCHER=${MUTANTS_LAUNCHER-}" >"$scratch/said" 2>&1 ||
    cat "$scratch/said"

while IFS='|' read -r file expression suite case; do
    [[ $file$expression =~ $pattern ]] || continue
    if killed "$file" "$expression" "$suite" "$case"; then
        echo "ok   $suite fails with $file: $expression"
        ((passed += 1))
    else
        echo "FAIL $suite passes with $file: $expression"
        tail -n 5 "$scratch/said" | sed 's/^/    | /'
        ((failed += 1))
    fi
    # Not from the sources, which may have changed since: somebody works on them.
    cat -- "$scratch/kept" >"$scratch/tree/$file"
done < <(table)

echo "$passed passed, $failed failed"
((failed == 0))
