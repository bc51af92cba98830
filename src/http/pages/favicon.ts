/**
 * The logo as an icon file, for what asks for `/favicon.ico` and cannot draw SVG: feed readers, bookmarks, link previews.
 * `src/web/frame/logo.svg` at 32 by 32 pixels.
 */

const PNG = [
  "iVBORw0KGgoAAAANSUhEUgAAACAAAAAgCAYAAABzenr0AAAEnElEQVR4nLxXa0xcRRT+7t1lYXeFFliEAuWpllcDRbEIpCE21bb6",
  "x7SpNdqksRqTNumPBrTWR9HW2oBpNOEXCbFGE6M1GtNaEe2DQpBKU6ihUKCWzVqKvAq7wL7usuOZS3ZZWIS7K+VLbu7Muefc882c",
  "OWdm1FgAmiNlOSHANgZhI8AKBQgJCAIMrB8QWgSGFklgdc4Tn3TM1xHm9CoqwrTOyQoyKBMEQYVlBGNsmrxVWkcsR1FTI/kR0L91",
  "KBcq1TfUXIcHCCLSBubeZz15qm2WQFmZXqcRblAnHSsABvxl1eizaMadIhfoNcJHK+Wcg/uiUH8ot7XvHCoSmKqRhCJWEDQLbsaw",
  "SS26VQeJ0oo655gZMHtdTamSIcxLhv/CvicLsSt3AzJjY9Fs7EN1UyOajHf89JJWR6K89Gk8l5mFkSkrznZ2oPLyBThcrvmqGYL+",
  "7fJx8r/KIylJScOr5KiKDLqGBmVZlFaH2l0vYctjcxOEVjSqGi7i2G/1cptjx/pcVL+wE+GhoXN0e0aGsfvL0/J79gcwqzSbij/2",
  "Vax4ZhuNMg+vPF4Al9uN1KhofLH7ZeQnJMrfa1qacerKZRj0DyElKgrFRPip5FRMOuzYX1SCY89uR6haDePYfZSf+xGtd030PQVx",
  "4eGI0Grl2fCJQ5igP1LOfAmsi3kY3+7Zi/Row5wRWMjBge+/ww8df8r9jUnJuPDGASyEX7pv4bUzX2PMZpP7WRSy97dsxadXGtBi",
  "Ms7R9SPAoQ0JwZulm/F8VjaidTr81NVJIbkI0/iYV2cDzUjj/oNyu6nvDrLj1uDm4ADO3GhH7R8tUAr1QkKbJOGDX+vkRwkOnz+L",
  "9nv9CAZqLBNo78Ca8AhaG3r0m8cxarUqsluSgEalgkg/t/ukkFoUoaMwebB21WrkxScgIizMK7tnMePS7d4liSxKgK/mPfkFtCbU",
  "6KSUvPa3CY8aYvDE2iQkR0Z69YpT02SHvoiPWIUX8/JxuvUqrJIUHAFenjRqlTy92bFx8uMBnxUPeA3g66a+5xYGLBZ5QZakpMJO",
  "Msf09GIuFifAp52n3faMLNqwNF45rw+tJhNQNNM/13UT1/vvyiQ42qjdNzqKKcmJadINmgAHH9FX16/J5ZVXN+6k32xGumG2Tkw5",
  "nV7nHozbbVACRVnAa3ivbwn1YKIH/xdBp2Hf6DDYwPmZ9v0RBIugt+EdiRIEx7D87Ex0IVgERcBAG927ObOmvG0IRVDgfxlEgHhv",
  "vYiYsNk05G0uCwKDIh1I2gOxyIgA9qb5O+My/i0QcN9EAAEReCRcgEr0P0FxGf8WGAG0i25R/JwqmUOpkX2RwmaWGAJw7nSLQq3o",
  "OF7ZTTX3pFLDhiGGQZu/oyE7Q+OQcgJ0+zrqOF7VKwfTOuHgx7JuJYYSVdaiehd+H54psXwf4O3COp6KykLAb0dTt41V8LUIO1xW",
  "SnG8hAAQr6XDPb3/UVZ1Pc6n6WpW4LmaeS+grqZmo5SZcyJEF6qmABXRDrhkXk3QoCcV1iDumAmoso1aNkufVXuPTwvOmXw9Z8JW",
  "Mihclus52FXaqn5e6Hr+LwAAAP//8Q7w+QAAAAZJREFUAwDfEclHJzGz0gAAAABJRU5ErkJggg=="
].join("")

/** Header of an icon file with one picture of 32 by 32 pixels and 32 bits a pixel: six bytes, then its entry. */
const header = (bytes: number): Buffer => {
  const head = Buffer.alloc(22)
  head.writeUInt16LE(1, 2)
  head.writeUInt16LE(1, 4)
  head.set([32, 32], 6)
  head.writeUInt16LE(1, 10)
  head.writeUInt16LE(32, 12)
  head.writeUInt32LE(bytes, 14)
  head.writeUInt32LE(head.length, 18)
  return head
}

const picture = Buffer.from(PNG, "base64")

/** The bytes of `/favicon.ico`. */
export const favicon: Uint8Array = new Uint8Array(Buffer.concat([header(picture.length), picture]))
