/**
 * A chain of recorded slots in a process of its own: `chain.ts SETTINGS`, where these are JSON. Prints its addresses as a line
 * of JSON once the slots are recorded, and then a line for each slot that it has sent. The line `begin` on its input starts
 * the recorded slots; before it slots are empty. From then on it has the priority of the settings, the lowest unless asked
 * otherwise: a real provider has machines of its own.
 */
import { Effect, Duration } from "effect"
import { readdirSync } from "node:fs"
import { setPriority } from "node:os"
import { createInterface } from "node:readline"
import { healthy } from "../../../src/simulator/node/Faults.ts"
import { makeSolanaNode } from "../../../src/simulator/node/SolanaNode.ts"
import { SLOT_MS } from "../../../src/simulator/chain/Bank.ts"
import { serveGeyser } from "./geyserServer.ts"
import { record } from "./recording.ts"
import { Replay } from "./replay.ts"
import type { ChainSettings } from "./startChain.ts"

const settings: ChainSettings = JSON.parse(process.argv[2] ?? "{}")
const print = (line: object) => process.stdout.write(`${JSON.stringify(line)}\n`)
const nowMs = () => performance.timeOrigin + performance.now()

const recording = record(settings)
// What recording leaves behind would be marked again and again while slots are sent.
globalThis.gc?.()
const replay = new Replay(recording, settings.variants)
const geyser = await serveGeyser(() => replay.slot)

const serve = Effect.gen(function* () {
  const bank = replay.bank()
  replay.advance(Math.floor(nowMs() / 1000))
  const node = yield* makeSolanaNode({
    seed: "mainnet",
    bank: () => bank,
    ailment: healthy,
    resetLedger: () => undefined
  })
  const { slots } = recording
  const sum = (value: (slot: (typeof slots)[number]) => number) => slots.reduce((all, slot) => all + value(slot), 0)
  print({
    rpcUrl: node.rpcUrl,
    wsUrl: node.wsUrl,
    geyserUrl: geyser.url,
    mints: recording.mints,
    steady: recording.steady,
    pools: recording.market.pools().length,
    coins: recording.coinGroups,
    bytes: sum(({ frames }) => frames.length),
    transactions: sum(({ messages }) => messages.length),
    swaps: sum(({ swaps }) => swaps)
  })
  createInterface(process.stdin)
    .on("line", () => {
      // A priority is of one thread: the collector's threads have their own.
      readdirSync("/proc/self/task").forEach((thread) => setPriority(Number(thread), settings.nice))
      replay.begin()
    })
    .on("close", () => process.exit(0))
  const begunMs = nowMs()
  for (let n = 1; ; n++) {
    const dueMs = begunMs + n * SLOT_MS
    yield* Effect.sleep(Duration.millis(Math.max(0, dueMs - nowMs())))
    const used = process.cpuUsage()
    const slot = replay.advance(Math.floor(nowMs() / 1000))
    const atMs = nowMs()
    const { bytes, transactions, writes } = geyser.send(slot)
    const { system, user } = process.cpuUsage(used)
    const cpuMs = Math.round((system + user) / 100) / 10
    const { swaps } = slot
    const lateMs = Math.round(atMs - dueMs)
    print({ slot: slot.slot, atMs, lateMs, transactions, swaps, writes, bytes, cpuMs, waiting: geyser.waiting() })
  }
})

await Effect.runPromise(Effect.scoped(serve))
