// Every limit of the product, in one place (spec: L, and the numbers of B, U, C, R and F that L doesn't repeat).
//
// Limits marked "ABI" belong to the guest's contract: an operator may lower them but never raise them. The others are
// ours. Enforcement happens at the point of use; nobody writes one of these numbers elsewhere.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>

namespace subako::limits {

using namespace std::chrono_literals;

inline constexpr uint64_t kKiB = 1024;
inline constexpr uint64_t kMiB = 1024 * kKiB;
inline constexpr uint64_t kGiB = 1024 * kMiB;

// A call.
inline constexpr std::chrono::milliseconds kDefaultTimeout = 60s;  // L1
inline constexpr std::chrono::milliseconds kMaxTimeout = 300s;     // L1, ABI
inline constexpr uint64_t kMemoryBytes = 512 * kMiB;               // L2, ABI: all linear memory of an instance
inline constexpr uint64_t kHugePagesFrom = 32 * kMiB;              // of a linear memory (C12: one instruction can fill it)
inline constexpr uint64_t kTableElements = 1'000'000;              // L2, M5: all tables of an instance together
inline constexpr uint64_t kGuestStackBytes = 1 * kMiB;             // of calls and locals; then it traps
inline constexpr uint32_t kTables = 100;                           // M5
inline constexpr uint64_t kWrittenBytes = 1 * kGiB;                // L3, F4, ABI: bytes written by one call
inline constexpr uint64_t kVolumeBytes = 10 * kGiB;                // L9, F5, ABI: sizes of a Volume's files
inline constexpr uint64_t kVolumeEntries = 1'000'000;              // F5: names in a Volume
inline constexpr std::chrono::milliseconds kVolumeTold = 250ms;    // between two tellings of a worker how full a Volume is
inline constexpr uint64_t kStdoutBytes = 1 * kMiB;                 // L4, ABI
inline constexpr uint64_t kStderrKeptBytes = 64 * kKiB;            // L5, C7, ABI
inline constexpr uint64_t kStderrToldBytes = 4 * kKiB;             // L5, C9, ABI
inline constexpr uint64_t kStderrInFlightBytes = 64 * kKiB;        // live stderr on its way to a reader; then a gap
inline constexpr std::chrono::milliseconds kExitGrace = 1s;        // L11, C8, ABI
inline constexpr uint32_t kDescriptors = 1024;                     // F6: open descriptors of a call
inline constexpr uint64_t kHostCallBytes = 1 * kMiB;               // moved by one host call at most; then a short count
inline constexpr uint64_t kListedAtOnceBytes = 64 * kKiB;          // of a directory, in one turn: some 2,000 entries
inline constexpr uint64_t kFreedAtOnceBytes = 128 * kKiB;          // of files; more is freed on a thread of its own (C12)
inline constexpr uint32_t kBlockingThreads = 4;                    // of a worker: each stands still in the kernel for one guest
inline constexpr uint32_t kIovecs = 1024;                          // F2: buffers of a host call; past it EINVAL
inline constexpr uint32_t kPollSubscriptions = 4096;               // F2: of a poll_oneoff; past it ENOMEM

// JSON (C6, C10).
inline constexpr uint64_t kArgumentsBytes = 1 * kMiB;      // compact
inline constexpr uint64_t kArgumentsTextBytes = 4 * kMiB;  // as given, white space included
inline constexpr uint32_t kJsonDepth = 120;

// HTTP (L6, L7, L14), ABI.
inline constexpr uint64_t kHttpInlineBytes = 256 * kKiB;
inline constexpr uint64_t kHttpRequestBytes = 8 * kMiB;
inline constexpr uint32_t kHttpRedirects = 10;

// Pictures of a result (L8, R4), ABI.
inline constexpr uint32_t kPictures = 20;
inline constexpr uint64_t kPictureBytes = 10 * kMiB;
inline constexpr uint32_t kPictureSide = 2000;  // pixels of the longer side

// What decoding a picture may cost (R5). A process decodes one picture. The most that 100 megapixels take in a format that is held
// whole is a WebP's: 4 bytes a pixel in its decoder and 4 in what comes out, 763 MiB; a progressive JPEG's in CMYK has as much.
inline constexpr uint64_t kPicturePixels = 100'000'000;           // as the header says, before anything is allocated
inline constexpr uint64_t kPictureMemoryBytes = 1280 * kMiB;      // RLIMIT_AS: address space, the program's own included
inline constexpr std::chrono::seconds kPictureCpu = 20s;          // RLIMIT_CPU, of one picture
inline constexpr std::chrono::milliseconds kPictureWall = 30s;    // for all pictures of a result
inline constexpr uint32_t kPictureScans = 100;                    // of a progressive JPEG
inline constexpr uint64_t kPictureScannedPixels = 2'000'000'000;  // its scans times its pixels: each scan visits them all

// A bundle (L12, B2, B3).
inline constexpr uint64_t kBundleBytes = 64 * kMiB;  // ABI: unpacked, in all
inline constexpr uint32_t kAssetFiles = 10'000;      // ABI
inline constexpr uint32_t kBundlePathBytes = 1024;
inline constexpr uint32_t kBundleSegmentBytes = 255;
inline constexpr uint32_t kBundleEntries = 100'000;  // archive entries looked at, directories and skipped ones included
inline constexpr uint64_t kManifestBytes = 64 * kKiB;
inline constexpr uint64_t kBundleArchiveBytes = 128 * kMiB;  // B3: an archive file, and the tar in a .tar.gz: contents and headers
inline constexpr uint32_t kRefusals = 50;  // B3: told at once; the rest are counted
inline constexpr uint32_t kNameChars = 64;           // B2, U3
inline constexpr uint32_t kDescriptionChars = 1024;  // B2, U3, ABI: Unicode scalar values

// Upload check (L10, L13), ABI.
inline constexpr std::chrono::milliseconds kUploadTime = 10s;
inline constexpr uint32_t kToolPages = 16;
inline constexpr uint32_t kTools = 64;
inline constexpr uint64_t kSchemaBytes = 64 * kKiB;
inline constexpr uint64_t kAllToolsBytes = 256 * kKiB;

// What our own sentences and reports may hold, however much a guest gives cause for.
inline constexpr uint32_t kQuotedBytes = 200;       // of guest text quoted in a sentence (C9, U4)
inline constexpr uint32_t kBacktraceFrames = 32;  // of a trap or a timeout, innermost first; the rest counted
inline constexpr uint32_t kReportedRefusals = 100;  // U4: then one line with the count of the others; warnings likewise
inline constexpr uint32_t kResultNotes = 1000;      // R2: notes in what the model gets; then one with the count

// A builder (M6).
inline constexpr std::chrono::seconds kBuilderCpu = 60s;
inline constexpr std::chrono::seconds kBuilderWall = 60s;
inline constexpr uint64_t kBuilderMemoryBytes = 2 * kGiB;
// A compiled module, which core keeps and a worker maps. Compiled, a module is 2 to 4 times its size, which is 64 MiB at most (L12).
inline constexpr uint64_t kCompiledBytes = 512 * kMiB;
inline constexpr uint32_t kPictureBuilders = 2;  // R5: processes of a Node that decode pictures at once

// The cache of compiled modules.
inline constexpr uint64_t kCacheBytes = 2 * kGiB;                    // what was used longest ago goes first
inline constexpr std::chrono::milliseconds kCacheLockWait = 1s;      // for who makes room; then this module isn't kept
inline constexpr size_t kEngineIdentityBytes = 64 * kKiB;            // what a worker says of itself

// Between core and its children. The largest message is the end of a run: 1 MiB of stdout (L4) and 64 KiB of stderr (C7),
// or 256 KiB of tools (L13) with their refusals; 8 MiB leaves room for every escape in between.
inline constexpr uint32_t kFrameBytes = 8 * kMiB;
inline constexpr uint32_t kFrameDescriptors = 64;  // preopens of a run: two of the Volume, the package, and 61 skills

// Memory of a node (core/memory_plan.h, worker/memory_meter.h).
inline constexpr uint64_t kTableElementBytes = 8;
inline constexpr uint64_t kGuestHostBytes = 256 * kKiB;  // what the host holds for any guest: its stack, its record, its messages
// What it may come to: a line and its answer (L4), arguments (C10) as they came and as a line, stderr kept and on its way (L5), frames.
inline constexpr uint64_t kGuestHostMostBytes = 8 * kMiB;
// One guest at the limits of L2.
inline constexpr uint64_t kFullGuestBytes = kMemoryBytes + kTableElements * kTableElementBytes + kGuestHostMostBytes;
// What a freed slot may keep resident (docs/decisions/0015): of its memory, of each of its tables, of its stack. The worst that a
// guest can leave is two memories (references have a heap of their own) and all tables.
inline constexpr uint64_t kKeptMemoryBytes = 1 * kMiB;
inline constexpr uint64_t kKeptTableBytes = 4 * kKiB;
inline constexpr uint64_t kKeptStackBytes = 16 * kKiB;
inline constexpr uint64_t kUnknownGuestBytes = 2 * kMiB;  // expected of a version that hasn't run yet
inline constexpr uint64_t kWorkerBytes = 32 * kMiB;       // of a worker without guests
inline constexpr uint64_t kMemoryGrantBytes = 4 * kMiB;   // that a worker asks for beyond what it needs at once
inline constexpr uint32_t kGuestsPerWorker = 8000;        // slots at most: each takes 5 or 6 memory maps
inline constexpr uint32_t kMapsPerGuest = 6;
inline constexpr uint32_t kMapsOfWorker = 1024;           // its program, modules, threads, heap
inline constexpr size_t kWorkerFramesBytes = 2 * size_t{8} * kMiB;  // queued to core: then no guest gets a turn
inline constexpr std::chrono::milliseconds kWorkerIdleTrim = 2s;     // without a guest: then what freed slots keep is given back

// Calls that wait (core/admission.h).
inline constexpr uint32_t kQueuedCalls = 4096;
inline constexpr uint32_t kQueuedCallsOfSession = 256;
inline constexpr uint64_t kQueuedBytes = 64 * kMiB;  // of their arguments
inline constexpr uint32_t kOvertaken = 64;           // how often one that waits for memory may be overtaken by smaller ones
inline constexpr std::chrono::seconds kRetryAfterLeast = 1s;
inline constexpr std::chrono::seconds kRetryAfterMost = 60s;

// Workers that die (core/worker_pool.h).
inline constexpr uint32_t kDeathsToSetApart = 2;    // of a version that was running: then it gets a worker of its own
inline constexpr uint32_t kCleanRunsToForgive = 50;  // of such a version, on end: then it may run with others again
inline constexpr uint32_t kWorkersApart = 2;
inline constexpr uint32_t kGuestsApart = 16;         // slots of a worker for one version
inline constexpr uint32_t kFailedStarts = 3;         // in a row: then there is a pause before the next
inline constexpr std::chrono::milliseconds kStartPause = 5s;

// What core grants a worker before it is ended: the time to start, to take a module, to end a run beyond that run's own
// time (L1, L11), to confirm a cancel (C12).
inline constexpr std::chrono::milliseconds kWorkerStart = 10s;
inline constexpr std::chrono::milliseconds kWorkerLoad = 30s;
inline constexpr std::chrono::milliseconds kWorkerSilence = 5s;
inline constexpr std::chrono::milliseconds kWorkerCancel = 1s;
inline constexpr std::chrono::milliseconds kChildReap = 500ms;  // from a child's being killed to its end; then nobody waits for it
inline constexpr std::chrono::milliseconds kChildExit = 2s;  // from the end of a conversation to the end of the process

// What core takes from a child's report of a run: more is cut off.
inline constexpr size_t kReportedItems = 1000;           // refusals, warnings, frames of a backtrace, HTTP exchanges
inline constexpr size_t kReportedTextBytes = 16 * kKiB;  // of one sentence

}  // namespace subako::limits
