/** Brings the schemas of a document into the form that every generator and validator reads alike. */

type Json = Readonly<Record<string, unknown>>

const isJson = (value: unknown): value is Json => typeof value === "object" && value !== null && !Array.isArray(value)

/** Control characters. Validators differ in how they read `\p{Cc}`. */
const CONTROL = String.raw`\u0000-\u001f\u007f-\u009f`

const PROSE = new Set(["description", "default"])

const isProse = (schema: unknown): schema is Json =>
  isJson(schema) && Object.keys(schema).every((keyword) => PROSE.has(keyword))

/**
 * Moves the description of a property beside its schema or reference. Effect writes it as one more member of `allOf`.
 */
const merged = (schema: Json): Json => {
  const { allOf, ...rest } = schema
  if (!Array.isArray(allOf)) {
    return schema
  }
  const prose = Object.assign({}, ...allOf.filter(isProse))
  const others = allOf.filter((member) => !isProse(member))
  const [only] = others
  if (others.length === 0) {
    return { ...rest, ...prose }
  }
  return others.length === 1 && isJson(only) && "$ref" in only && isProse(rest)
    ? { ...only, ...rest, ...prose }
    : { ...rest, ...prose, allOf: others }
}

/** Leaves out bounds that every exact integer has. JSON inside text is always a frame of an event stream. */
const plain = ({ maximum, minimum, ...schema }: Json): Json => ({
  ...schema,
  ...(schema["contentSchema"] !== undefined && { description: "The frame as JSON text." }),
  ...(typeof schema["pattern"] === "string" && { pattern: schema["pattern"].replaceAll(/\\p\{Cc?\}/gu, CONTROL) }),
  ...(minimum !== undefined && minimum !== Number.MIN_SAFE_INTEGER && { minimum }),
  ...(maximum !== undefined && maximum !== Number.MAX_SAFE_INTEGER && { maximum })
})

/** The value with every schema inside it in portable form. */
export const portable = (value: unknown): unknown => {
  if (Array.isArray(value)) {
    return value.map(portable)
  }
  return isJson(value)
    ? Object.fromEntries(Object.entries(plain(merged(value))).map(([key, inner]) => [key, portable(inner)]))
    : value
}
