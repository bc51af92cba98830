/**
 * One process reads the chain and passes blocks to every other process of a service, in order and each block once.
 */
import { Context, Duration, type Effect, Stream } from "effect"
import { countSetting } from "../../domain/countSetting.ts"
import {
  type AppendRefused,
  type BusLog,
  type BusUnavailable,
  entriesAfter,
  type LogBounds,
  makeMemoryLog
} from "./busLog.ts"

/** A block to append. */
export interface BusBlock<Body = Uint8Array> {
  /** Slot of the previous block in the chain; 0 before the first. */
  readonly after: number
  readonly slot: number
  readonly body: Body
}

/** A block as a reader gets it. */
export interface BusEntry<Body = Uint8Array> {
  readonly slot: number
  readonly body: Body
  /**
   * True when blocks are missing: the bus no longer has some blocks between the reader's previous one and this one.
   */
  readonly isAfterGap: boolean
}

const MIB = 2 ** 20

/** Blocks stay for an hour. Together they take at most this many MiB, unless `BUS_MIB` says otherwise. */
export const BLOCKS_MIB = 512

/** Large enough for one block of any size. */
const LEAST_MIB = 16

/** `BUS_MIB` (512): how many MiB the blocks on the bus may take. A block of a busy slot takes about half a MiB. */
export const busMib = countSetting("BUS_MIB", BLOCKS_MIB, LEAST_MIB)

/** How long blocks stay on the bus, and how many MiB they may take together. */
export const blockBounds = (mib: number): Required<LogBounds> => ({
  keptMs: Duration.toMillis(Duration.hours(1)),
  mostBytes: mib * MIB
})

/** The blocks of each chain. A chain is named by its genesis hash. */
export interface Blocks<Body> {
  /** Slot of the newest block; null when the bus has no blocks. */
  newest(chain: string): Effect.Effect<number | null, BusUnavailable>
  /**
   * Appends a block. Refused unless the newest block is `after`, so that two writers never interleave and no block is
   * there twice. When the bus is empty or its newest block is older than `after`, the bus has lost blocks: it takes
   * the block, and its readers see a gap before it.
   */
  append(chain: string, block: BusBlock<Body>): Effect.Effect<void, AppendRefused | BusUnavailable>
  /**
   * Blocks after this slot: first those that are there, then each new one. 0 starts with the oldest. Never fails and
   * never ends: it waits while the bus cannot be reached.
   */
  follow(chain: string, after: number): Stream.Stream<BusEntry<Body>>
  /**
   * When the bus last answered, by the local clock, in milliseconds since the Unix epoch; null before the first
   * answer.
   */
  readonly heardAtMs: () => number | null
}

/** The bus between processes. Its blocks are bytes. */
export class BlockBus extends Context.Service<BlockBus, Blocks<Uint8Array>>()("fathom/storage/bus/BlockBus") {}

/** Builds the bus from a log whose places are slots. */
export const makeBlocks = <Body>(log: BusLog<Body>): Blocks<Body> => ({
  newest: log.newest,
  append: (chain, { after, body, slot }) => log.append(chain, { after, place: slot, body }),
  follow: (chain, after) =>
    Stream.map(entriesAfter(log, chain, after), ({ body, isAfterGap, place }) => ({ slot: place, body, isAfterGap })),
  heardAtMs: log.heardAtMs
})

/** A bus inside this process. Readers get the same objects that were appended. */
export const makeMemoryBlocks = <Body>(bounds: LogBounds, sizeOf?: (body: Body) => number): Blocks<Body> =>
  makeBlocks(makeMemoryLog(bounds, sizeOf))
