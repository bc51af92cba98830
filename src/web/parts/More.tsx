import type { Pages } from "../data/usePages.ts"
import { Failed } from "./States.tsx"

/** A button that reads the next page of a list; nothing at its end. */
export const More = ({ of: { more, next } }: { readonly of: Pick<Pages<unknown>, "more" | "next"> }) => (
  <>
    {next.failure !== null && <Failed failure={next.failure} />}
    {more !== null && (
      <button type="button" class="more" disabled={next.isBusy} onClick={more}>
        {next.isBusy ? "Reading" : "Show more"}
      </button>
    )}
  </>
)
