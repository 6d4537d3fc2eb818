import { writeFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { expect } from 'vitest'
import type { Page } from './browser.ts'

const IMAGES = fileURLToPath(new URL('../../docs/images/', import.meta.url))
/** Bytes that a clip may have on a page that begins with it. */
const MOST_CLIP_BYTES = 1_500_000
const MOST_CLIP_SECONDS = 15
/** Distance of a click from the left edge of a wide target, whose text begins there. */
const MOST_CLICK_PX = 60

/** Time in which a page draws a change of colors, also on a canvas. Until two views with this between them are equal. */
const DRAWN_MS = 300
const MOST_VIEWS = 20

/** A view of a page in both color schemes, each the base64 of a WebP. */
interface View {
  readonly light: string
  readonly dark: string
}

async function viewOf(page: Page): Promise<View> {
  const session = await page.context().newCDPSession(page)
  const shoot = async (colorScheme: 'light' | 'dark') => {
    await page.emulateMedia({ colorScheme })
    await redrawCharts(page)
    let seen: string | undefined
    for (let views = 0; views < MOST_VIEWS; views++) {
      const { data } = await session.send('Page.captureScreenshot', { format: 'webp', quality: 80 })
      if (data === seen) break
      seen = data
      await page.waitForTimeout(DRAWN_MS)
    }
    return seen ?? ''
  }
  const dark = await shoot('dark')
  const light = await shoot('light')
  await session.detach()
  return { light, dark }
}

/** A chart is drawn anew when its width changes. By itself it may still have the other scheme's colors at this moment. */
async function redrawCharts(page: Page): Promise<void> {
  const { width, height } = sizeOf(page)
  for (const at of [width + 8, width]) {
    await page.setViewportSize({ width: at, height })
    await page.waitForTimeout(DRAWN_MS)
  }
}

/** Takes a picture for the documentation: `name.svg`, in the reader's color scheme. */
export async function keepPicture(page: Page, name: string, label: string): Promise<void> {
  const frame = { ...(await viewOf(page)), caption: '', seconds: 1, click: undefined }
  keep(name, svgOf([frame], { ...sizeOf(page), label, still: 0 }))
}

interface Frame extends View {
  readonly caption: string
  readonly seconds: number
  /** The place of the next click. */
  readonly click: { readonly x: number; readonly y: number } | undefined
}

type Target = ReturnType<Page['locator']>

/** Films a page, one frame for each step, in light and dark. */
export class Clip {
  readonly #page: Page
  readonly #frames: Frame[] = []

  constructor(page: Page) {
    this.#page = page
  }

  /** Takes a frame, then clicks on `target`. */
  async step(caption: string, seconds: number, target?: Target): Promise<void> {
    const view = await viewOf(this.#page)
    const box = await target?.boundingBox()
    const click = box && { x: box.x + Math.min(box.width / 2, MOST_CLICK_PX), y: box.y + box.height / 2 }
    this.#frames.push({ ...view, caption, seconds, click: click ?? undefined })
    await target?.click()
  }

  /** Writes `name.svg`. Who wants no motion sees the frame numbered `still`. */
  keep(name: string, label: string, still: number): void {
    const svg = svgOf(this.#frames, { ...sizeOf(this.#page), label, still })
    expect(svg.length).toBeLessThan(MOST_CLIP_BYTES)
    expect(this.#frames.reduce((sum, { seconds }) => sum + seconds, 0)).toBeLessThanOrEqual(MOST_CLIP_SECONDS)
    keep(name, svg)
  }
}

function sizeOf(page: Page): { readonly width: number; readonly height: number } {
  return page.viewportSize() ?? { width: 0, height: 0 }
}

function keep(name: string, svg: string): void {
  writeFileSync(`${IMAGES}${name}.svg`, svg)
}

const CAPTION_PX = 56

interface Look {
  readonly width: number
  readonly height: number
  readonly label: string
  readonly still: number
}

/** Draws frames as an SVG that shows one after the other, without a script and in the reader's color scheme. */
function svgOf(frames: readonly Frame[], { width, height, label, still: stillAt }: Look): string {
  const top = frames.some(({ caption }) => caption !== '') ? CAPTION_PX : 0
  const images = frames.map(({ caption, light, dark, click }, at) => {
    const image = (scheme: string, data: string) =>
      `<image class="${scheme}" y="${top}" width="${width}" height="${height}" href="data:image/webp;base64,${data}"/>`
    const text = caption === '' ? '' : `<text x="20" y="36">${escaped(caption)}</text>`
    const ring = click === undefined ? '' : `<circle cx="${click.x}" cy="${click.y + top}" r="20"/>`
    const still = at === stillAt ? ' s' : ''
    return `<g class="f f${at}${still}">${image('l', light)}${image('d', dark)}${text}${ring}</g>`
  })
  const size = `width="${width}" height="${height + top}" viewBox="0 0 ${width} ${height + top}"`
  const head = `<svg xmlns="http://www.w3.org/2000/svg" ${size} role="img" aria-label="${escaped(label)}">`
  return `${head}<style>${styleOf(frames)}</style><rect width="100%" height="100%"/>\n${images.join('\n')}\n</svg>\n`
}

/** Styles that show each frame in its time, or only the still one to who wants no motion. */
function styleOf(frames: readonly Frame[]): string {
  const total = frames.reduce((sum, { seconds }) => sum + seconds, 0)
  const percent = (seconds: number) => `${((seconds / total) * 100).toFixed(2)}%`
  let time = 0
  const turns = frames.map(({ seconds }, at) => {
    const before = at === 0 ? '' : `0%{opacity:0}`
    const from = percent(time)
    time += seconds
    const after = at === frames.length - 1 ? '' : `${percent(time)}{opacity:0}`
    return `@keyframes f${at}{${before}${from}{opacity:1}${after}}.f${at}{animation:f${at} ${total}s step-end infinite}`
  })
  return `
.f{opacity:0}.s{opacity:1}.d{display:none}
rect{fill:#fbfbfa}text{fill:#1c1d1f;font:600 22px system-ui,sans-serif}
circle{fill:#0b5c6b40;stroke:#0b5c6b;stroke-width:3;animation:ring 1s infinite}@keyframes ring{50%{opacity:.25}}
${frames.length > 1 ? turns.join('\n') : ''}
@media(prefers-color-scheme:dark){.l{display:none}.d{display:inline}
rect{fill:#131417}text{fill:#eceded}circle{fill:#6fd0e040;stroke:#6fd0e0}}
@media(prefers-reduced-motion:reduce){.f,circle{animation:none}}
`
}

function escaped(text: string): string {
  return text.replace(/[&<>"]/g, one => `&#${one.charCodeAt(0)};`)
}
