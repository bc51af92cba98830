import { Cause, Option, Predicate } from "effect"

/** Errors that the command line prints itself. */
const printed = new Set(["ShowHelp", "UserError"])

/**
 * The text to print when the program fails: one line for an expected error, the whole cause for a defect, null for an
 * interruption or an error that is printed already.
 */
export const exitMessage = (cause: Cause.Cause<{ readonly _tag: string; readonly message: string }>): string | null => {
  const error = Option.getOrUndefined(Cause.findErrorOption(cause))
  if (error === undefined) {
    return Cause.hasInterruptsOnly(cause) ? null : Cause.pretty(cause)
  }
  const inner = Predicate.hasProperty(error, "cause") ? error.cause : undefined
  const detail = Predicate.hasProperty(error, "detail") ? `${error._tag}: ${String(error.detail)}` : error._tag
  const message = error.message === "" && inner instanceof Error ? inner.message : error.message
  const line = message.replaceAll(/\s+/gu, " ").replace(/^SchemaError\((?<issue>.*)\)$/u, "$<issue>")
  return printed.has(error._tag) ? null : `fathom: ${message === "" ? detail : line}`
}
