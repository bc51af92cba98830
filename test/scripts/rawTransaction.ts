/** Raw transactions as `getBlock` returns them, for the recomputation. */
import bs58 from "bs58"
import type { RawTransaction } from "../../scripts/recompute/chain.ts"
import { address } from "../market/tape/tape.ts"

/** The wallet that pays the fee, and signs. */
export const PAYER = address(9, 1)

/** A top-level instruction, and those that it calls. */
export interface Step {
  readonly program: string
  readonly data: Uint8Array
  readonly accounts: ReadonlyArray<string>
  readonly inner?: ReadonlyArray<Omit<Step, "inner">>
}

/** A transaction that leaves `after` lamports in accounts that had `before`; nothing where none is given. */
export const transactionOf = (
  steps: ReadonlyArray<Step>,
  {
    after = {},
    before = {},
    err = null
  }: {
    readonly after?: Readonly<Record<string, number>>
    readonly before?: Readonly<Record<string, number>>
    readonly err?: unknown
  }
): RawTransaction => {
  const all = steps.flatMap((step) => [step, ...(step.inner ?? [])])
  const keys = Array.from(new Set([PAYER, ...all.flatMap(({ accounts, program }) => [...accounts, program])]))
  const packed = ({ accounts, data, program }: Omit<Step, "inner">) => ({
    programIdIndex: keys.indexOf(program),
    accounts: accounts.map((account) => keys.indexOf(account)),
    data: bs58.encode(data)
  })
  return {
    transaction: {
      signatures: ["signature"],
      message: { accountKeys: keys, header: { numRequiredSignatures: 1 }, instructions: steps.map(packed) }
    },
    meta: {
      err,
      fee: 5000,
      preBalances: keys.map((key) => before[key] ?? 0),
      postBalances: keys.map((key) => after[key] ?? 0),
      innerInstructions: steps.map(({ inner = [] }, index) => ({ index, instructions: inner.map(packed) })),
      preTokenBalances: [],
      postTokenBalances: [],
      logMessages: null
    }
  }
}
