/** Keeps the changes of authorities that this process sees in the store, and takes those of all processes from there. */
import { Effect } from "effect"
import type { Mint } from "../domain/Address.ts"
import type { AlertStoreUnavailable } from "../domain/wallets/Alert.ts"
import type { TokenBook } from "../tokens/TokenBook.ts"
import type { AlertStore } from "./AlertStore.ts"
import type { AuthorityChanges, ClockReading } from "./AuthorityChanges.ts"

/** Sightings in one write. */
const BATCH_SIZE = 1000

type Authorities = Pick<AlertStore["Service"], "authorityChanges" | "noteAuthorities">

/** One look at the tokens of which the authorities are watched. `retried` tries again what the store did not take. */
export const followAuthorities = Effect.fnUntraced(function* (
  changes: AuthorityChanges,
  { store, tokens }: { readonly store: Authorities; readonly tokens: Pick<TokenBook["Service"], "read"> },
  mints: ReadonlySet<Mint>,
  reading: ClockReading,
  retried: <A>(effect: Effect.Effect<A, AlertStoreUnavailable>) => Effect.Effect<A>
) {
  changes.keep(mints)
  if (mints.size === 0) {
    return
  }
  const seen = changes.unstored(mints, tokens.read, reading.monotonicMs)
  for (let from = 0; from < seen.length; from += BATCH_SIZE) {
    const batch = seen.slice(from, from + BATCH_SIZE)
    yield* retried(store.noteAuthorities(batch))
    changes.stored(batch, reading.monotonicMs)
  }
  changes.changed(yield* retried(store.authorityChanges), reading)
})
