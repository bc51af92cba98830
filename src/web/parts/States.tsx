/** What a page shows in place of data: while it loads, when there is none, and when reading failed. */
import type { ComponentChildren } from "preact"
import type { Read } from "../data/useRead.ts"
import type { RequestFailed } from "../data/request.ts"

/** Shown until the first answer. Reserves the space of `rows` rows, so that nothing jumps. */
export const Loading = ({ rows = 3, what }: { readonly rows?: number; readonly what: string }) => (
  <div class="loading" role="status" aria-live="polite">
    <div class="bone said">Reading {what} …</div>
    {Array.from({ length: rows - 1 }, (_, row) => (
      <div class="bone" key={row} />
    ))}
  </div>
)

/** What stands in the place of a placeholder of so many rows, and keeps at least its height. */
export const InPlace = ({ children, rows = 3 }: { readonly rows?: number; readonly children: ComponentChildren }) => (
  <div class="in-place" style={{ "--rows": rows }}>
    {children}
  </div>
)

/** Shown in place of a list without entries. */
export const Empty = ({ children }: { readonly children: ComponentChildren }) => <p class="empty">{children}</p>

const adviceOf = ({ code, retryAfterMs, status }: RequestFailed, isRetrying: boolean): string => {
  const next = isRetrying ? "Trying again" : "Try again"
  if (status === 0) {
    return `${next}.`
  }
  if (status === 429) {
    return `The requests of this minute are used up. ${next} in ${Math.ceil((retryAfterMs ?? 1000) / 1000)} s.`
  }
  if (status === 401) {
    return "Sign in again."
  }
  return isRetrying ? `Code ${code}. ${next}.` : `Code ${code}.`
}

/** A failure in words, with what happens next or what the user can do. */
export const Failed = ({
  failure,
  isRetrying = false
}: {
  readonly failure: RequestFailed
  readonly isRetrying?: boolean
}) => (
  <div class="failed" role="alert">
    <p>{failure.message}</p>
    <p class="soft">{adviceOf(failure, isRetrying)}</p>
    {failure.details.length > 0 && (
      <ul>
        {failure.details.map(({ field, issue, message }) => (
          <li key={`${field} ${issue}`}>{message ?? `${field ?? "request"}: ${issue ?? "invalid"}`}</li>
        ))}
      </ul>
    )}
  </div>
)

/** Renders the answer of a read with `children`. While later attempts fail, a notice stands above the last answer. */
export const Shown = <A,>({
  children,
  isQuiet = false,
  read: { answer, failure, isLoading, isRetrying },
  rows,
  what
}: {
  readonly read: Read<A>
  readonly what: string
  readonly rows?: number
  /** True beside a read that says why it failed: a failure is then one soft sentence. */
  readonly isQuiet?: boolean
  readonly children: (answer: A) => ComponentChildren
}) => {
  if (answer === null) {
    const height = rows === undefined ? {} : { rows }
    return failure !== null && !isLoading ? (
      <InPlace {...height}>
        {isQuiet ? <p class="soft">Reading {what} failed.</p> : <Failed failure={failure} isRetrying={isRetrying} />}
      </InPlace>
    ) : (
      <Loading what={what} {...height} />
    )
  }
  return (
    <>
      {failure !== null && !isQuiet && <Failed failure={failure} isRetrying={isRetrying} />}
      {children(answer)}
    </>
  )
}
