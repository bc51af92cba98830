/** The process of `chain.ts`. */
import { spawn } from "node:child_process"
import { createInterface } from "node:readline"
import type { RecordingOptions } from "./recording.ts"
import type { Variants } from "./replay.ts"

/** The addresses and sizes of the chain, once its slots are recorded. */
export interface ChainPlace {
  readonly rpcUrl: string
  readonly wsUrl: string
  readonly geyserUrl: string
  /** Tokens whose accounts are written, the steady ones first. */
  readonly mints: ReadonlyArray<string>
  readonly steady: ReadonlyArray<string>
  readonly pools: number
  readonly coins: number
  /** Of all recorded slots. */
  readonly bytes: number
  readonly transactions: number
  readonly swaps: number
}

/** A slot that was sent. Times are by this machine's clock. */
export interface SentLine {
  readonly slot: number
  readonly atMs: number
  readonly lateMs: number
  readonly transactions: number
  readonly swaps: number
  readonly writes: number
  readonly bytes: number
  readonly cpuMs: number
  readonly waiting: number
}

/** A running chain. */
export interface Chain extends ChainPlace {
  /** Slots that were sent, by number. */
  readonly sent: ReadonlyMap<number, SentLine>
  readonly head: () => number
  /** The exit code or signal with which its process has ended; null while it runs. */
  readonly ended: () => string | null
  readonly begin: () => void
  readonly stop: () => void
}

/** Size and variants of the chain, and the priority of its process while slots are sent, as `nice` counts it. */
export interface ChainSettings extends RecordingOptions {
  readonly variants: Variants
  readonly nice: number
}

/** Starts the process and waits until its slots are recorded. */
export const startChain = async (settings: ChainSettings): Promise<Chain> => {
  const file = new URL("chain.ts", import.meta.url).pathname
  // Buffers of slots count like the heap: otherwise every 64 MiB of them have the whole recording marked.
  const flags = ["--max-old-space-size=8192", "--expose-gc", "--external-memory-accounted-in-global-limit"]
  const child = spawn(process.execPath, [...flags, file, JSON.stringify(settings)], {
    stdio: ["pipe", "pipe", "inherit"]
  })
  const sent = new Map<number, SentLine>()
  const state: { head: number; ended: string | null } = { head: 0, ended: null }
  const place = await new Promise<ChainPlace>((resume, fail) => {
    child.once("exit", (code, signal) => {
      state.ended = String(code ?? signal)
      fail(new Error(`the chain ended with ${state.ended}`))
    })
    let isFirst = true
    createInterface(child.stdout).on("line", (line) => {
      if (isFirst) {
        isFirst = false
        const first: ChainPlace = JSON.parse(line)
        return resume(first)
      }
      const slot: SentLine = JSON.parse(line)
      sent.set(slot.slot, slot)
      state.head = slot.slot
    })
  })
  return {
    ...place,
    sent,
    head: () => state.head,
    ended: () => state.ended,
    begin: () => child.stdin.write("begin\n"),
    stop: () => child.kill("SIGKILL")
  }
}
