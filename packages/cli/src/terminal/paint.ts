/** A color for each meaning. Without colors, text stays unchanged. */
export interface Paint {
  good(text: string): string
  bad(text: string): string
  warn(text: string): string
  dim(text: string): string
  bold(text: string): string
}

export function createPaint(colors: boolean): Paint {
  const style = (open: number, close: number) => (text: string) =>
    colors ? `\u001b[${open}m${text}\u001b[${close}m` : text
  return {
    good: style(32, 39),
    bad: style(31, 39),
    warn: style(33, 39),
    dim: style(2, 22),
    bold: style(1, 22),
  }
}
