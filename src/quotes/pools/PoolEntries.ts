/** Pairs of a mint and a pool, stored as bytes. */
import { type Address, addressToBytes, SOL } from "../../domain/Address.ts"
import type { ProgramQuery } from "../../chain/ChainFeed.ts"
import type { ScanQuery } from "../../chain/rpc/AccountScan.ts"
import { mintOffsets, poolConditions } from "../../programs/layout/poolFields.ts"
import type { Program } from "../../programs/interface/Program.ts"

const ADDRESS = 32
/** Entries in one part of a list. */
const PART = 4096

/** A part of a list: up to 4,096 entries in one piece of memory. */
export interface EntryPart {
  /** The program of each entry, as an index into the list's `programs`. */
  readonly programs: ReadonlyArray<number>
  /** 32 bytes per entry. */
  readonly mints: Uint8Array
  readonly pools: Uint8Array
}

interface OpenPart {
  readonly programs: Array<number>
  readonly mints: Uint8Array
  readonly pools: Uint8Array
}

/** A compact list of entries: 64 bytes each, plus the index of the entry's program. */
export class PoolEntries {
  readonly programs: ReadonlyArray<Address>
  readonly #parts: Array<OpenPart> = []
  #size = 0

  constructor(programs: ReadonlyArray<Address>) {
    this.programs = programs
  }

  /** Number of entries. */
  get size(): number {
    return this.#size
  }

  /** Adds an entry. The bytes are copied. */
  add(program: number, mint: Uint8Array, pool: Uint8Array): void {
    const place = this.#size % PART
    let part = this.#parts.at(-1)
    if (place === 0 || part === undefined) {
      part = { programs: [], mints: new Uint8Array(PART * ADDRESS), pools: new Uint8Array(PART * ADDRESS) }
      this.#parts.push(part)
    }
    part.programs.push(program)
    part.mints.set(mint, place * ADDRESS)
    part.pools.set(pool, place * ADDRESS)
    this.#size += 1
  }

  /** The entries in parts. */
  parts(): ReadonlyArray<EntryPart> {
    return this.#parts.map(({ mints, pools, programs }) => ({
      programs,
      mints: mints.subarray(0, programs.length * ADDRESS),
      pools: pools.subarray(0, programs.length * ADDRESS)
    }))
  }
}

/** A program whose pools are indexed. One search finds all its pools, whatever their mint. */
export interface IndexedListing {
  readonly program: Program
  readonly query: ProgramQuery
  /** The part of a pool account that holds the mints. */
  readonly slice: ScanQuery["slice"]
  /** Offsets of the mints in that part. */
  readonly mintsAt: ReadonlyArray<number>
}

/** The listings of programs that can be searched. Pools of other programs are at addresses derived from the mint. */
export const listingsOf = (programs: ReadonlyArray<Program>): ReadonlyArray<IndexedListing> =>
  programs.flatMap((program) => {
    const conditions = poolConditions(program)
    const offsets = mintOffsets(program)
    if (conditions === null || offsets.length === 0) {
      return []
    }
    const offset = Math.min(...offsets)
    return {
      program,
      query: { programId: program.programId, ...conditions },
      slice: { offset, length: Math.max(...offsets) + ADDRESS - offset },
      mintsAt: offsets.map((at) => at - offset)
    }
  })

const SOL_BYTES = addressToBytes(SOL)
const isSol = (mint: Uint8Array): boolean => mint.every((byte, index) => byte === SOL_BYTES[index])

/** The mints in this part of a pool account. SOL is left out, because pools are loaded with the other mint. */
export const mintsIn = ({ mintsAt }: IndexedListing, part: Uint8Array): ReadonlyArray<Uint8Array> =>
  mintsAt.map((at) => part.subarray(at, at + ADDRESS)).filter((mint) => !isSol(mint))
