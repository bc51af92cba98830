/** Numbers that commands are given as options and arguments. */

/** Bounds of a number; above zero unless `least` is given. */
interface NumberRules {
  readonly least?: number
  readonly most?: number
  readonly whole?: boolean
}

/** The number in the text; null unless it is one within the bounds. */
export const numberIn = (text: string, { least, most, whole = false }: NumberRules = {}): number | null => {
  const value = text.trim() === "" ? Number.NaN : Number(text)
  const isWithin = (least === undefined ? value > 0 : value >= least) && value <= (most ?? Number.MAX_SAFE_INTEGER)
  return isWithin && (!whole || Number.isInteger(value)) ? value : null
}

/** The number of an option or argument. Another text ends the command with 2 and a message that names it. */
export const numberOption = (name: string, text: string, rules: NumberRules = {}): number => {
  const value = numberIn(text, rules)
  if (value === null) {
    const { least, most, whole = false } = rules
    const bounds = `${least === undefined ? "above 0" : `of at least ${least}`}${most === undefined ? "" : ` and at most ${most}`}`
    process.stderr.write(`${name} must be a ${whole ? "whole " : ""}number ${bounds}, not "${text}"\n`)
    process.exit(2)
  }
  return value
}

/** The number after `--name` of the command line; `missing` without the flag or without a value. */
export const flagNumber = (name: string, missing: number, rules: NumberRules = {}): number => {
  const at = process.argv.indexOf(`--${name}`)
  const text = at === -1 ? undefined : process.argv[at + 1]
  return text === undefined || text.startsWith("--") ? missing : numberOption(`--${name}`, text, rules)
}

/** The whole number that is the first argument of the command line without dashes; `missing` without one. */
export const countArgument = (name: string, missing: number): number => {
  const text = process.argv.slice(2).find((argument) => !argument.startsWith("--"))
  return text === undefined ? missing : numberOption(name, text, { whole: true })
}
