/**
 * Base58 in chunks of nine digits, the most that a double holds exactly. Texts of a transaction are hundreds of bytes long,
 * and the digit-wise algorithm takes a tenth of a millisecond for each.
 */

const DIGITS = "123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz"
const CHUNK = 9
const POWER = 58n ** BigInt(CHUNK)
const WORD = 8
const NO_DIGIT = 255
/** Longest text that is decoded. Instruction data of a transaction is shorter. */
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

/** The bytes as base58 text. */
export const toBase58 = (bytes: Uint8Array): string => {
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

/** Powers of 58 by 9, 18, 36 and so on digits: the weight of the more significant half of 2, 4, 8 chunks. */
const powers: Array<bigint> = [POWER]
while (CHUNK * 2 ** powers.length < MAX_DIGITS) {
  const last = powers.at(-1) ?? 1n
  powers.push(last * last)
}

/** The value of the digits between two offsets; -1 when one of them is not a digit. */
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

/** The number's chunks, least significant first; null when a character is not a digit. */
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

/** Halves the count of chunks until one is left, which multiplies long numbers few times. */
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

/** The bytes that base58 text spells; null when it is not base58 or longer than 2,000 digits. */
export const fromBase58 = (text: string): Uint8Array | null => {
  let zeros = 0
  while (text.charCodeAt(zeros) === 49) {
    zeros += 1
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
