/** JSON text of a value; amounts are digits. */
export const jsonOf = (value: unknown): string =>
  JSON.stringify(value, (_, part: unknown) => (typeof part === "bigint" ? part.toString() : part))
