/** Usage as CSV (RFC 4180). */
import type { UsageItem } from "../../api/account/Account.ts"

const COLUMNS = [
  "day",
  "keyId",
  "keyName",
  "operation",
  "requests",
  "units",
  "errors",
  "bytes",
  "streamMinutes"
] as const satisfies ReadonlyArray<keyof UsageItem>

/** First characters by which a spreadsheet takes a cell for a formula, tab and carriage return included. */
const FORMULA = /^[=+\-@\t\r]/u
const QUOTED = /[",\r\n]/u

/** A cell: empty for null. Text that could be taken for a formula begins with an apostrophe. */
export const csvCell = (value: string | number | null): string => {
  if (value === null || typeof value === "number") {
    return String(value ?? "")
  }
  const text = FORMULA.test(value) ? `'${value}` : value
  return QUOTED.test(text) ? `"${text.replaceAll('"', '""')}"` : text
}

/** The rows with a header line. Lines end with CRLF. */
export const usageCsv = (rows: ReadonlyArray<UsageItem>): string =>
  [COLUMNS.join(","), ...rows.map((row) => COLUMNS.map((column) => csvCell(row[column])).join(","))]
    .map((line) => `${line}\r\n`)
    .join("")

/** True when `Accept` gives CSV a greater weight than JSON. */
export const prefersCsv = (accept: string | undefined): boolean => {
  const weightOf = (types: ReadonlyArray<string>): number => {
    for (const type of types) {
      for (const part of (accept ?? "").toLowerCase().split(",")) {
        const [name = "", ...parameters] = part.split(";").map((text) => text.trim())
        if (name === type) {
          const weight = Number(parameters.find((text) => text.startsWith("q="))?.slice(2) ?? 1)
          return Number.isFinite(weight) ? weight : 0
        }
      }
    }
    return 0
  }
  return weightOf(["text/csv", "text/*"]) > weightOf(["application/json", "application/*", "*/*"])
}
