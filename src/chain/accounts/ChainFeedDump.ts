import { Clock, Effect, Layer, Result, Schema } from "effect"
import { promises } from "node:fs"
import { join } from "node:path"
import type { OnChainAccount } from "../../domain/OnChainAccount.ts"
import type { Address } from "../../domain/Address.ts"
import { type AccountDump, mergeDumps, readDump } from "./accountDump.ts"
import { ChainFeed } from "../ChainFeed.ts"
import { fixedFeed } from "./fixedReads.ts"

/** A folder of account dumps cannot be used, or a file in it cannot. */
export class DumpUnreadable extends Schema.TaggedError<DumpUnreadable>()("DumpUnreadable", {
  file: Schema.String,
  detail: Schema.String
}) {}

/** Returns accounts to add to a recording. */
export type Complete = (accounts: ReadonlyMap<Address, OnChainAccount>) => ReadonlyArray<OnChainAccount>

const attempt = <A>(file: string, evaluate: () => Promise<A>) =>
  Effect.tryPromise({
    try: evaluate,
    catch: (cause) => new DumpUnreadable({ file, detail: cause instanceof Error ? cause.message : "cannot be read" })
  })

const readFile = Effect.fnUntraced(function* (file: string): Effect.fn.Return<AccountDump, DumpUnreadable> {
  const text = yield* attempt(file, () => promises.readFile(file, "utf8"))
  return yield* Effect.fromResult(Result.mapError(readDump(text), (detail) => new DumpUnreadable({ file, detail })))
})

const readFolder = Effect.fnUntraced(function* (folder: string) {
  const names = yield* attempt(folder, () => promises.readdir(folder))
  const files = names.filter((name) => name.endsWith(".json")).toSorted()
  if (files.length === 0) {
    return yield* new DumpUnreadable({ file: folder, detail: "there is no .json file in it" })
  }
  return mergeDumps(yield* Effect.forEach(files, (name) => readFile(join(folder, name)), { concurrency: 8 }))
})

const make = Effect.fnUntraced(function* (folder: string, complete: Complete) {
  const { accounts: recorded, clock } = yield* readFolder(folder)
  const added = complete(recorded)
  const accounts = new Map([...recorded, ...added.map((account) => [account.address, account] as const)])
  if (added.length > 0) {
    yield* Effect.logInfo("Added accounts to the recording", {
      accounts: added.map(({ address }) => address).join(" ")
    })
  }
  yield* Effect.logDebug("Read a recorded market", { folder, accounts: accounts.size, slot: clock.slot })
  return yield* fixedFeed({ accounts, clock, heardAtMs: yield* Clock.currentTimeMillis })
})

/**
 * A folder of account dumps as a market that never changes. Accounts that the dumps lack do not exist, unless
 * `complete` adds them. Added accounts are logged.
 */
export const layer = (
  folder: string,
  { complete = () => [] }: { readonly complete?: Complete } = {}
): Layer.Layer<ChainFeed, DumpUnreadable> => Layer.effect(ChainFeed, make(folder, complete))
