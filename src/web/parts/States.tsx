/** The places of data while it loads, when there is none, and when reading failed. */
import type { ComponentChildren } from "preact"
import type { Read } from "../data/useRead.ts"
import type { RequestFailed } from "../data/request.ts"

/** Shown while something is read for the first time. Reserves the room, so that nothing jumps. */
export const Loading = ({ rows = 3, what }: { readonly rows?: number; readonly what: string }) => (
  <div class="loading" role="status" aria-live="polite">
    <span class="hidden">Loading {what}</span>
    {Array.from({ length: rows }, (_, row) => (
      <div class="bone" key={row} />
    ))}
  </div>
)

/** Shown where a list has no entries. */
export const Empty = ({ children }: { readonly children: ComponentChildren }) => <p class="empty">{children}</p>

const adviceOf = ({ code, retryAfterMs, status }: RequestFailed): string => {
  if (status === 0) {
    return "Trying again."
  }
  if (status === 429) {
    return `The budget of this minute is spent. Trying again in ${Math.ceil((retryAfterMs ?? 1000) / 1000)} s.`
  }
  if (status === 401) {
    return "Sign in again."
  }
  return retryAfterMs === null ? `Code ${code}.` : `Code ${code}. Trying again.`
}

/** A failure in words. */
export const Failed = ({ failure }: { readonly failure: RequestFailed }) => (
  <div class="failed" role="alert">
    <p>{failure.message}</p>
    <p class="soft">{adviceOf(failure)}</p>
    {failure.details.length > 0 && (
      <ul>
        {failure.details.map(({ field, issue, message }) => (
          <li key={`${field} ${issue}`}>{message ?? `${field ?? "request"}: ${issue ?? "invalid"}`}</li>
        ))}
      </ul>
    )}
  </div>
)

/** A read as a page: its data by `children`, with a notice above them while later attempts fail. */
export const Shown = <A,>({
  children,
  read: { answer, failure, isLoading },
  rows,
  what
}: {
  readonly read: Read<A>
  readonly what: string
  readonly rows?: number
  readonly children: (answer: A) => ComponentChildren
}) => {
  if (answer === null) {
    return failure !== null && !isLoading ? (
      <Failed failure={failure} />
    ) : (
      <Loading what={what} {...(rows === undefined ? {} : { rows })} />
    )
  }
  return (
    <>
      {failure !== null && <Failed failure={failure} />}
      {children(answer)}
    </>
  )
}
