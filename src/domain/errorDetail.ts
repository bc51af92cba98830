/** Turns errors into one line of text. */

const ownWords = (error: Error): string => {
  if (error.message !== "") {
    return error.message
  }
  // A connection refused at several addresses has no message of its own.
  return "code" in error && typeof error.code === "string" ? error.code : error.name
}

/** The message of an error and of its causes, outermost first, in one line and without a stack. */
export const errorDetail = (cause: unknown): string => {
  if (!(cause instanceof Error)) {
    return String(cause)
  }
  const own = ownWords(cause)
  const rest = cause.cause === undefined ? "" : errorDetail(cause.cause)
  return rest === "" || own.includes(rest) ? own : `${own}: ${rest}`
}

const MOST_PUBLIC = 200

/**
 * Like `errorDetail`, for replies that anyone may read: at most 200 characters. Addresses of services are cut to
 * their host. Words of 24 or more letters and digits are left out, because they may be secrets or wallets.
 */
export const publicDetail = (cause: unknown): string =>
  errorDetail(cause)
    .replaceAll(/\s+/gu, " ")
    .replaceAll(
      /\b(?<scheme>[a-z][a-z0-9+.-]*:\/\/)(?:[^\s/@?#"']*@)?(?<host>[^\s/@?#"']*)[^\s"']*/giu,
      "$<scheme>$<host>"
    )
    .replaceAll(/[\w+=-]{24,}/gu, "…")
    .slice(0, MOST_PUBLIC)
