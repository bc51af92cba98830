/** Files that the build turns into addresses or style sheets. */
declare module "*.svg" {
  const address: string
  export default address
}

declare module "*.css"

/** The text of a file. */
declare module "*?raw" {
  const text: string
  export default text
}
