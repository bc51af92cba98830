/** One reader of the chain passes blocks to every process of a service, in order and each once. */
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

/** A block as a reader of the bus has it. */
export interface BusEntry<Body = Uint8Array> {
  readonly slot: number
  readonly body: Body
  /** True when the bus no longer has the blocks between this one and the reader's last. */
  readonly isAfterGap: boolean
}

const MIB = 2 ** 20

/** Blocks stay for an hour, and at most this many MiB of them, unless `BUS_MIB` says otherwise. */
export const BLOCKS_MIB = 512

/** One block of any size fits. */
const LEAST_MIB = 16

/** `BUS_MIB` (512): the most MiB of blocks on the bus. A block of a busy slot takes about half of one. */
export const busMib = countSetting("BUS_MIB", BLOCKS_MIB, LEAST_MIB)

/** Bounds of the blocks on the bus. `mib` is the most that they hold together. */
export const blockBounds = (mib: number): Required<LogBounds> => ({
  keptMs: Duration.toMillis(Duration.hours(1)),
  mostBytes: mib * MIB
})

/** Blocks of chains, which are named by their genesis hashes. */
export interface Blocks<Body> {
  /** Slot of the newest block; null when there is none. */
  newest(chain: string): Effect.Effect<number | null, BusUnavailable>
  /**
   * Appends a block. Refused unless the newest block is `after`, so that two writers never interleave and no block is
   * there twice. A bus with an older newest block, or with none, has lost blocks: it takes the block, and its readers
   * get a gap before it.
   */
  append(chain: string, block: BusBlock<Body>): Effect.Effect<void, AppendRefused | BusUnavailable>
  /**
   * Blocks after this slot: the present ones, then each new one. With 0, from the oldest on. Never fails and never
   * ends: it waits while the bus cannot be reached.
   */
  follow(chain: string, after: number): Stream.Stream<BusEntry<Body>>
  /** Local time of the last answer of the bus, in milliseconds since the Unix epoch; null before the first. */
  readonly heardAtMs: () => number | null
}

/** The bus that processes share: blocks as bytes. */
export class BlockBus extends Context.Service<BlockBus, Blocks<Uint8Array>>()("fathom/storage/bus/BlockBus") {}

/** The bus over a log whose places are slots. */
export const makeBlocks = <Body>(log: BusLog<Body>): Blocks<Body> => ({
  newest: log.newest,
  append: (chain, { after, body, slot }) => log.append(chain, { after, place: slot, body }),
  follow: (chain, after) =>
    Stream.map(entriesAfter(log, chain, after), ({ body, isAfterGap, place }) => ({ slot: place, body, isAfterGap })),
  heardAtMs: log.heardAtMs
})

/** A bus inside this process. Its readers get the objects that were appended. */
export const makeMemoryBlocks = <Body>(bounds: LogBounds, sizeOf?: (body: Body) => number): Blocks<Body> =>
  makeBlocks(makeMemoryLog(bounds, sizeOf))
