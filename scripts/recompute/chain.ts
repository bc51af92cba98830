/** Raw blocks over JSON-RPC. Nothing of the service is used here, so that its figures can be checked against these. */

/** A token balance of a transaction's metadata. */
export interface RawTokenBalance {
  readonly accountIndex: number
  readonly mint: string
  readonly owner?: string
  readonly uiTokenAmount: { readonly amount: string; readonly decimals: number }
}

/** An instruction by the indexes of its accounts; `data` is base58. */
export interface RawInstruction {
  readonly programIdIndex: number
  readonly accounts: ReadonlyArray<number>
  readonly data: string
  readonly stackHeight?: number | null
}

/** A transaction as `getBlock` returns it in encoding `json`. */
export interface RawTransaction {
  readonly transaction: {
    readonly signatures: ReadonlyArray<string>
    readonly message: {
      readonly accountKeys: ReadonlyArray<string>
      readonly header: { readonly numRequiredSignatures: number }
      readonly instructions: ReadonlyArray<RawInstruction>
    }
  }
  readonly meta: {
    readonly err: unknown
    readonly fee: number
    readonly preBalances: ReadonlyArray<number>
    readonly postBalances: ReadonlyArray<number>
    readonly innerInstructions: ReadonlyArray<{
      readonly index: number
      readonly instructions: ReadonlyArray<RawInstruction>
    }> | null
    readonly preTokenBalances: ReadonlyArray<RawTokenBalance>
    readonly postTokenBalances: ReadonlyArray<RawTokenBalance>
    readonly loadedAddresses?: { readonly writable: ReadonlyArray<string>; readonly readonly: ReadonlyArray<string> }
    readonly logMessages: ReadonlyArray<string> | null
  }
}

/** A block with its slot. */
export interface RawBlock {
  readonly slot: number
  readonly parentSlot: number
  readonly blockTime: number
  readonly transactions: ReadonlyArray<RawTransaction>
}

const PARALLEL = 8
const ATTEMPTS = 5
/** Codes of a slot that has no block, and of one whose block the node no longer has. */
const SKIPPED: ReadonlyArray<number> = [-32007, -32009, -32001]

/** The result of a call; throws what the node reports. */
export const call = async (url: string, method: string, params: ReadonlyArray<unknown>): Promise<unknown> => {
  const response = await fetch(url, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ jsonrpc: "2.0", id: 1, method, params })
  })
  const answer = (await response.json()) as { result?: unknown; error?: { code: number; message: string } }
  if (answer.error !== undefined) {
    throw Object.assign(new Error(`${method}: ${answer.error.message}`), { code: answer.error.code })
  }
  return answer.result
}

const codeOf = (error: unknown): unknown => (error instanceof Error && "code" in error ? error.code : undefined)

const blockAt = async (url: string, slot: number): Promise<RawBlock | null> => {
  const options = {
    encoding: "json",
    transactionDetails: "full",
    maxSupportedTransactionVersion: 0,
    rewards: false,
    commitment: "confirmed"
  }
  for (let attempt = 1; ; attempt++) {
    try {
      const block = (await call(url, "getBlock", [slot, options])) as Omit<RawBlock, "slot"> | null
      return block === null ? null : { ...block, slot }
    } catch (error) {
      if (SKIPPED.some((code) => code === codeOf(error))) {
        return null
      }
      if (attempt === ATTEMPTS) {
        throw error
      }
    }
  }
}

/** The slots with a block between two slots, both included. */
export const slotsBetween = async (url: string, from: number, to: number): Promise<ReadonlyArray<number>> => {
  const slots: Array<number> = []
  for (let first = from; first <= to; first += 10_000) {
    const last = Math.min(to, first + 9_999)
    slots.push(...((await call(url, "getBlocks", [first, last, { commitment: "confirmed" }])) as ReadonlyArray<number>))
  }
  return slots
}

/** The blocks of these slots in order, a few read ahead. */
export async function* blocksOf(url: string, slots: ReadonlyArray<number>): AsyncGenerator<RawBlock> {
  for (let at = 0; at < slots.length; at += PARALLEL) {
    const blocks = await Promise.all(slots.slice(at, at + PARALLEL).map((slot) => blockAt(url, slot)))
    yield* blocks.filter((block) => block !== null)
  }
}
