/** Words of an error for the log and for answers. */

const ownWords = (error: Error): string => {
  if (error.message !== "") {
    return error.message
  }
  // A refused connection to several addresses has no message of its own.
  return "code" in error && typeof error.code === "string" ? error.code : error.name
}

/** The message of an error and of its causes, the outermost first, in one line and without a stack. */
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
 * The same words for an answer that anyone may read: addresses of services by their host, without texts of 24 letters, digits
 * or more, which may be secrets or wallets, and at most 200 characters.
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
