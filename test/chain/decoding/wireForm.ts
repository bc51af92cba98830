/** A transaction of a node's answer, in encoding `json`, as a Geyser sends it. */
import bs58 from "bs58"
import { dataOf } from "../../../src/chain/decoding/instructions.ts"
import type { Transaction } from "../../../src/chain/decoding/transaction.ts"
import { readUpdate } from "../../../src/chain/geyser/readUpdate.ts"
import { subscribeMethod } from "../../../src/chain/geyser/geyserService.ts"
import type {
  GeyserInstruction,
  GeyserMeta,
  GeyserTokenBalance,
  GeyserUpdate
} from "../../../src/chain/geyser/geyserUpdates.ts"

interface JsonInstruction {
  readonly programIdIndex: number
  readonly accounts: ReadonlyArray<number>
  readonly data: string
  readonly stackHeight?: number | null
}

interface JsonBalance extends Omit<GeyserTokenBalance, "uiTokenAmount"> {
  readonly uiTokenAmount: { readonly amount: string; readonly decimals: number }
}

/** The answer of `getTransaction`, as far as decoders read it. */
export interface JsonTransaction {
  readonly meta: {
    readonly err: unknown
    readonly fee: number
    readonly preBalances: ReadonlyArray<number>
    readonly postBalances: ReadonlyArray<number>
    readonly innerInstructions?: ReadonlyArray<{
      readonly index: number
      readonly instructions: ReadonlyArray<JsonInstruction>
    }> | null
    readonly logMessages?: ReadonlyArray<string> | null
    readonly preTokenBalances?: ReadonlyArray<JsonBalance> | null
    readonly postTokenBalances?: ReadonlyArray<JsonBalance> | null
    readonly loadedAddresses?: { readonly writable: ReadonlyArray<string>; readonly readonly: ReadonlyArray<string> }
  }
  readonly transaction: {
    readonly signatures: ReadonlyArray<string>
    readonly message: {
      readonly accountKeys: ReadonlyArray<string>
      readonly instructions: ReadonlyArray<JsonInstruction>
    }
  }
}

const instructionOf = ({ accounts, data, programIdIndex, stackHeight }: JsonInstruction): GeyserInstruction => ({
  programIdIndex,
  accounts: Uint8Array.from(accounts),
  data: bs58.decode(data),
  ...(typeof stackHeight === "number" && { stackHeight })
})

const metaOf = ({ meta }: JsonTransaction): GeyserMeta => ({
  ...(meta.err !== null && { err: { err: Uint8Array.of(1) } }),
  fee: String(meta.fee),
  preBalances: meta.preBalances.map(String),
  postBalances: meta.postBalances.map(String),
  innerInstructions: (meta.innerInstructions ?? []).map(({ index, instructions }) => ({
    index,
    instructions: instructions.map(instructionOf)
  })),
  logMessages: meta.logMessages ?? [],
  logMessagesNone: (meta.logMessages ?? null) === null,
  preTokenBalances: meta.preTokenBalances ?? [],
  postTokenBalances: meta.postTokenBalances ?? [],
  loadedWritableAddresses: (meta.loadedAddresses?.writable ?? []).map((key) => bs58.decode(key)),
  loadedReadonlyAddresses: (meta.loadedAddresses?.readonly ?? []).map((key) => bs58.decode(key))
})

/** The bytes of its `TransactionInfo`. */
export const infoOf = (json: JsonTransaction): Uint8Array => {
  const { message, signatures } = json.transaction
  const update: GeyserUpdate = {
    filters: [],
    transaction: {
      slot: "1",
      transaction: {
        transaction: {
          signatures: signatures.map((signature) => bs58.decode(signature)),
          message: {
            accountKeys: message.accountKeys.map((key) => bs58.decode(key)),
            instructions: message.instructions.map(instructionOf)
          }
        },
        meta: metaOf(json)
      }
    }
  }
  return readUpdate(subscribeMethod.responseSerialize(update)).transaction?.info ?? new Uint8Array(0)
}

/** The transaction with plain objects, and with the data of instructions as bytes, from whichever source it was read. */
export const plainOf = ({ instructions, log, tokenAccounts, ...rest }: Transaction) => ({
  ...rest,
  log,
  tokenAccounts: Array.from(tokenAccounts),
  instructions: instructions.map((instruction) => ({
    program: instruction.program,
    accounts: instruction.accounts,
    data: dataOf(instruction),
    transfers: instruction.transfers,
    outer: instruction.outer,
    inner: instruction.inner,
    height: instruction.height
  }))
})
