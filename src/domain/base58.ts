/**
 * Base58. Up to 64 bytes (addresses and signatures) are multiplied by tables of powers, in doubles. Longer input,
 * such as instruction data of hundreds of bytes, is split into chunks of nine digits, the longest that a double holds
 * exactly. The usual digit-by-digit algorithm would take a tenth of a millisecond for such input.
 */

const DIGITS = "123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz"
const CHUNK = 9
const POWER = 58n ** BigInt(CHUNK)
const WORD = 8
const NO_DIGIT = 255
/** Longest text that is decoded. Instruction data in a transaction is always shorter. */
const MAX_DIGITS = 2_000

const digitValues = new Uint8Array(128).fill(NO_DIGIT)
for (let i = 0; i < DIGITS.length; i++) {
  digitValues[DIGITS.charCodeAt(i)] = i
}

const digitsOf = (value: number, count: number): string => {
  let text = ""
  for (let rest = value, left = count; left > 0 || rest > 0; left--) {
    text = (DIGITS[rest % 58] ?? "") + text
    rest = Math.floor(rest / 58)
  }
  return text
}

const bigEndian = (bytes: Uint8Array): bigint => {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.length)
  const words = bytes.length - (bytes.length % WORD)
  let value = 0n
  for (let at = 0; at < words; at += WORD) {
    value = (value << 64n) | view.getBigUint64(at)
  }
  for (let at = words; at < bytes.length; at++) {
    value = (value << 8n) | BigInt(view.getUint8(at))
  }
  return value
}

/** Largest input of the fast path. A sum of 32 or 18 products stays below 2^51. */
const SHORT_BYTES = 64
const SHORT_DIGITS = 90
const LIMB_DIGITS = 5
const LIMB = 58 ** LIMB_DIGITS
/** Bytes in five base58 digits: 3.66. */
const LIMB_BYTES = Math.log2(LIMB) / 8
const LIMBS = SHORT_DIGITS / LIMB_DIGITS
const HALVES = 34
const HALF = 2 ** 16

/**
 * Powers of one base, written in the digits of another base. Powers and digits run from least to most significant,
 * `width` digits per power.
 */
const powerTable = (base: number, count: number, digit: number, width: number): Float64Array => {
  const table = new Float64Array(count * width)
  for (let power = 0, value = 1n; power < count; power++, value *= BigInt(base)) {
    for (let at = 0, rest = value; rest > 0n; at++, rest /= BigInt(digit)) {
      table[power * width + at] = Number(rest % BigInt(digit))
    }
  }
  return table
}

const halvesInLimbs = powerTable(HALF, SHORT_BYTES / 2, LIMB, LIMBS)
const limbsInHalves = powerTable(LIMB, LIMBS, HALF, HALVES)
/** How many digits each power times its factor can fill. */
const limbsOfHalf = Uint8Array.from({ length: SHORT_BYTES / 2 }, (_, power) => Math.ceil((power * 2 + 2) / LIMB_BYTES))
const halvesOfLimb = Uint8Array.from({ length: LIMBS }, (_, power) => Math.ceil(((power + 1) * LIMB_BYTES) / 2))
const letterCodes = Uint8Array.from(DIGITS, (letter) => letter.charCodeAt(0))
const limbs = new Float64Array(LIMBS)
const halves = new Float64Array(HALVES)
const LETTER_ONE = 49
const shortLetters = new Uint8Array(SHORT_DIGITS)
const latin = new TextDecoder("latin1")

/** Adds a multiple of a power to the first digits of a sum without carrying. */
const addPower = (sum: Float64Array, digits: number, table: Float64Array, power: number, factor: number): void => {
  const from = power * sum.length
  for (let at = 0; at < digits; at++) {
    sum[at] = (sum[at] ?? 0) + factor * (table[from + at] ?? 0)
  }
}

/** Carries over between the first digits of a sum, least significant first. */
const carryOver = (sum: Float64Array, digit: number, digits: number): void => {
  let carry = 0
  for (let at = 0; at < digits; at++) {
    const value = (sum[at] ?? 0) + carry
    carry = Math.floor(value / digit)
    sum[at] = value - carry * digit
  }
}

/** Letters that `spellBase58` may need. */
export const MOST_LETTERS = SHORT_DIGITS

/**
 * Writes the base58 letters of up to 64 bytes, which lie from here to there, to the end of `letters`. Returns the place of
 * the first letter. `letters` has `MOST_LETTERS` places.
 */
export const spellBase58 = (bytes: Uint8Array, from: number, to: number, letters: Uint8Array): number => {
  let zeros = 0
  while (from + zeros < to && bytes[from + zeros] === 0) {
    zeros += 1
  }
  const used = limbsOfHalf[(to - from - 1) >> 1] ?? 0
  limbs.fill(0, 0, used)
  for (let end = to, power = 0; end > from; end -= 2, power++) {
    addPower(
      limbs,
      limbsOfHalf[power] ?? LIMBS,
      halvesInLimbs,
      power,
      (bytes[end - 1] ?? 0) + 256 * (end - 1 > from ? (bytes[end - 2] ?? 0) : 0)
    )
  }
  carryOver(limbs, LIMB, used)
  let at = SHORT_DIGITS
  for (let limb = 0; limb < used; limb++) {
    // Fits 31 bits, so that the division by a constant compiles to an integer multiplication.
    let rest = (limbs[limb] ?? 0) | 0
    for (let digit = 0; digit < LIMB_DIGITS; digit++) {
      at -= 1
      const next = (rest / 58) | 0
      letters[at] = letterCodes[rest - next * 58] ?? 0
      rest = next
    }
  }
  // The digit 0 is written as 1, and so is each leading byte that is zero.
  while (letters[at] === LETTER_ONE && at < SHORT_DIGITS) {
    at += 1
  }
  for (; zeros > 0; zeros--) {
    at -= 1
    letters[at] = LETTER_ONE
  }
  return at
}

const shortToBase58 = (bytes: Uint8Array): string =>
  latin.decode(shortLetters.subarray(spellBase58(bytes, 0, bytes.length, shortLetters)))

/** The bytes as base58 text. */
export const toBase58 = (bytes: Uint8Array): string => {
  if (bytes.length <= SHORT_BYTES) {
    return shortToBase58(bytes)
  }
  let zeros = 0
  while (bytes[zeros] === 0) {
    zeros += 1
  }
  let rest = bigEndian(bytes)
  let text = ""
  while (rest >= POWER) {
    text = digitsOf(Number(rest % POWER), CHUNK) + text
    rest /= POWER
  }
  return "1".repeat(zeros) + digitsOf(Number(rest), 0) + text
}

/** 58^9, 58^18, 58^36 and so on: the weights of the upper half of 2, 4, 8 chunks. */
const powers: Array<bigint> = [POWER]
while (CHUNK * 2 ** powers.length < MAX_DIGITS) {
  const last = powers.at(-1) ?? 1n
  powers.push(last * last)
}

/** The value of the digits between two offsets; -1 when there is a character that is not a digit. */
const chunkValue = (text: string, from: number, to: number): number => {
  let value = 0
  for (let at = from; at < to; at++) {
    const digit = digitValues[text.charCodeAt(at)] ?? NO_DIGIT
    if (digit === NO_DIGIT) {
      return -1
    }
    value = value * 58 + digit
  }
  return value
}

/** Splits the number into chunks, least significant first. Null when a character is not a digit. */
const chunksOf = (text: string, zeros: number): Array<bigint> | null => {
  const chunks: Array<bigint> = []
  for (let end = text.length; end > zeros; end -= CHUNK) {
    const value = chunkValue(text, Math.max(zeros, end - CHUNK), end)
    if (value < 0) {
      return null
    }
    chunks.push(BigInt(value))
  }
  return chunks
}

/** Joins chunks in pairs until one is left. This needs few multiplications of long numbers. */
const joined = (chunks: Array<bigint>): bigint => {
  let count = chunks.length
  for (let level = 0; count > 1; level++) {
    const power = powers[level] ?? 0n
    let next = 0
    for (let i = 0; i < count; i += 2) {
      const low = chunks[i] ?? 0n
      chunks[next] = i + 1 < count ? (chunks[i + 1] ?? 0n) * power + low : low
      next += 1
    }
    count = next
  }
  return chunks[0] ?? 0n
}

const nibble = (code: number): number => (code < 58 ? code - 48 : code - 87)

const shortFromBase58 = (text: string, zeros: number): Uint8Array | null => {
  halves.fill(0)
  for (let end = text.length, power = 0; end > zeros; end -= LIMB_DIGITS, power++) {
    const value = chunkValue(text, Math.max(zeros, end - LIMB_DIGITS), end)
    if (value < 0) {
      return null
    }
    addPower(halves, halvesOfLimb[power] ?? HALVES, limbsInHalves, power, value)
  }
  carryOver(halves, HALF, HALVES)
  let top = HALVES - 1
  while (top >= 0 && halves[top] === 0) {
    top -= 1
  }
  const size = top < 0 ? 0 : top * 2 + ((halves[top] ?? 0) > 255 ? 2 : 1)
  const bytes = new Uint8Array(zeros + size)
  for (let at = 0; at < size; at++) {
    const half = halves[at >> 1] ?? 0
    bytes[bytes.length - 1 - at] = at % 2 === 0 ? half & 255 : half >> 8
  }
  return bytes
}

/** The bytes that base58 text spells; null when it is not base58 or longer than 2,000 digits. */
export const fromBase58 = (text: string): Uint8Array | null => {
  let zeros = 0
  while (text.charCodeAt(zeros) === 49) {
    zeros += 1
  }
  if (text.length <= SHORT_DIGITS) {
    return shortFromBase58(text, zeros)
  }
  const chunks = text.length > MAX_DIGITS ? null : chunksOf(text, zeros)
  if (chunks === null) {
    return null
  }
  const hex = chunks.length === 0 ? "" : joined(chunks).toString(16)
  const bytes = new Uint8Array(zeros + ((hex.length + 1) >> 1))
  for (let end = hex.length, at = bytes.length - 1; end > 0; end -= 2, at--) {
    bytes[at] = nibble(hex.charCodeAt(end - 1)) | (end > 1 ? nibble(hex.charCodeAt(end - 2)) << 4 : 0)
  }
  return bytes
}
