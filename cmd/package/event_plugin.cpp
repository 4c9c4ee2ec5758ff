// SPDX-License-Identifier: GPL-3.0-or-later
/*
 * An event-driven simulator as a plugin, in C++: dies that serve one request
 * after the other, each for a time, and a queue of events. It learns when a
 * request is done only when the event comes.
 *
 *     c++ -shared -fPIC $(pkg-config --cflags libssdprobe) event_plugin.cpp \
 *         -o event.so
 *     ssdprobe plugin:./event.so,depth=32
 */
#include <deque>
#include <functional>
#include <queue>
#include <string>
#include <vector>

#include "lib/device/plugin/ssdprobe_plugin.h"

namespace {
struct Event {
    uint64_t at_ns, tag;
    size_t die;
    bool operator>(const Event &other) const { return at_ns > other.at_ns; }
};

class Simulator {
    std::priority_queue<Event, std::vector<Event>, std::greater<Event>> events;
    std::vector<std::deque<uint64_t>> dies{4}; // tags; the first is served
    static constexpr uint64_t service_ns = 50000;

public:
    void submit(const ssdprobe_plugin_request &request, uint64_t tag)
    {
        const size_t die = request.offset_bytes / 4096 % dies.size();
        dies[die].push_back(tag);
        if (dies[die].size() == 1)
            events.push({request.now_ns + service_ns, tag, die});
    }

    size_t advance(uint64_t until_ns, ssdprobe_plugin_done *done, size_t room)
    {
        size_t count = 0;
        while (!events.empty() && count < room &&
               events.top().at_ns <=
                   (count > 0 ? done[0].complete_ns : until_ns)) {
            const Event event = events.top();
            events.pop();
            done[count++] = {event.tag, event.at_ns, 0};
            dies[event.die].pop_front();
            if (!dies[event.die].empty())
                events.push({event.at_ns + service_ns,
                             dies[event.die].front(), event.die});
        }
        return count;
    }
};
} // namespace

static int drive_open(const ssdprobe_plugin_setting *settings, size_t count,
                      void **drive, ssdprobe_plugin_geometry *geometry, char *,
                      size_t)
{
    geometry->capacity_bytes = 1 << 30;
    geometry->block_bytes = 4096;
    for (size_t i = 0; i < count; i++)
        if (std::string(settings[i].key) == "depth")
            geometry->queue_depth_count =
                static_cast<uint32_t>(std::stoul(settings[i].value));
    geometry->has_no_cache = geometry->no_discard = 1;
    geometry->keeps_contents = SSDPROBE_PLUGIN_HOST_KEEPS;
    *drive = new Simulator;
    return 0;
}

// Wrapped: from here to the end.
extern "C" const struct ssdprobe_plugin ssdprobe_plugin = {
    SSDPROBE_PLUGIN_VERSION,
    drive_open,
    nullptr,
    nullptr,
    [](void *drive) { delete static_cast<Simulator *>(drive); },
    [](void *drive, const ssdprobe_plugin_request *request, uint64_t tag) {
        static_cast<Simulator *>(drive)->submit(*request, tag);
        return 0;
    },
    [](void *drive, uint64_t until_ns, ssdprobe_plugin_done *done,
       size_t room) {
        return static_cast<Simulator *>(drive)->advance(until_ns, done, room);
    },
};
