/** Stores the changes of authorities that this process sees, and reads the changes that all processes saw. */
import { Effect } from "effect"
import type { Mint } from "../domain/Address.ts"
import type { TokenBook } from "../tokens/TokenBook.ts"
import type { AlertStore } from "./AlertStore.ts"
import type { AuthorityChanges, ClockReading } from "./AuthorityChanges.ts"
import { untilAnswered } from "./storedAlerts.ts"

/** Sightings in one write. */
const BATCH_SIZE = 1000

type Authorities = Pick<AlertStore["Service"], "authorityChanges" | "noteAuthorities">

/** One look at the tokens whose authorities are watched. Waits until the store answers. */
export const followAuthorities = Effect.fnUntraced(function* (
  changes: AuthorityChanges,
  { store, tokens }: { readonly store: Authorities; readonly tokens: Pick<TokenBook["Service"], "read"> },
  mints: ReadonlySet<Mint>,
  reading: ClockReading
) {
  changes.keep(mints)
  if (mints.size === 0) {
    return
  }
  const seen = changes.unstored(mints, tokens.read, reading.monotonicMs)
  for (let from = 0; from < seen.length; from += BATCH_SIZE) {
    const batch = seen.slice(from, from + BATCH_SIZE)
    yield* untilAnswered(store.noteAuthorities(batch))
    changes.stored(batch, reading.monotonicMs)
  }
  changes.changed(yield* untilAnswered(store.authorityChanges), reading)
})
