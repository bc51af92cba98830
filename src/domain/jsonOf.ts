/** JSON text of a value. Amounts are digit strings. */
export const jsonOf = (value: unknown): string =>
  JSON.stringify(value, (_, part: unknown) => (typeof part === "bigint" ? part.toString() : part))
