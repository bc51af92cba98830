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

/** The text of `--name text` or `--name=text` among the arguments; undefined without the flag or without a value. */
export const flagText = (args: ReadonlyArray<string>, name: string): string | undefined => {
  const flag = `--${name}`
  const at = args.findIndex((argument) => argument === flag || argument.startsWith(`${flag}=`))
  const found = args[at]
  const text = found === flag ? args[at + 1] : found?.slice(flag.length + 1)
  return found === flag && text?.startsWith("--") === true ? undefined : text
}

/** The number of `--name` of the command line; `missing` without the flag or without a value. */
export const flagNumber = (name: string, missing: number, rules: NumberRules = {}): number => {
  const text = flagText(process.argv, name)
  return text === undefined ? missing : numberOption(`--${name}`, text, rules)
}

/** The whole number that is the first argument of the command line without dashes; `missing` without one. */
export const countArgument = (name: string, missing: number): number => {
  const text = process.argv.slice(2).find((argument) => !argument.startsWith("--"))
  return text === undefined ? missing : numberOption(name, text, { whole: true })
}
