import toManager from 'npm-to-yarn'
import { transform } from 'sucrase'

const MARKED_FENCE =
  /(?:^<!-- test: [\w-]+(?<marks>[^\n]*) -->\n(?:<!-- [^\n]* -->\n)*)?^```(?<lang>sh|ts)\n(?<code>.*?)^```$/gms

/**
 * Shows a code block in every form a reader may need: install commands for npm, pnpm, yarn and bun; variables for a shell
 * and for PowerShell; TypeScript and JavaScript. The pages stay plain Markdown: GitHub shows the first form.
 */
export function codeTabs(md) {
  md.core.ruler.before('normalize', 'code-tabs', state => {
    // The API reference shows declarations, which have only one form.
    if (state.env.relativePath?.startsWith('api/')) return
    state.src = state.src.replace(MARKED_FENCE, (block, ...rest) => {
      const { marks = '', lang, code } = rest.at(-1)
      const tabs = lang === 'sh' ? shellTabs(code) : languageTabs(code, /file=(\S+)/.exec(marks)?.[1])
      return tabs === undefined ? block : group(tabs)
    })
  })
}

function group(tabs) {
  const blocks = tabs.map(([title, lang, code]) => `\`\`\`${lang} [${title}]\n${code.trimEnd()}\n\`\`\``)
  return `::: code-group\n\n${blocks.join('\n\n')}\n\n:::\n`
}

function shellTabs(code) {
  if (/^npm (install|init)\b/m.test(code) && !/#|npm ci|npm run/.test(code))
    return ['npm', 'pnpm', 'yarn', 'bun'].map(name => [name, 'sh', forManager(code, name)])
  if (!/^export \w+=/m.test(code)) return undefined
  const windows = code.replace(/^export (\w+)=(.*)$/gm, "$env:$1 = '$2'")
  return [
    ['macOS, Linux', 'sh', code],
    ['PowerShell', 'powershell', windows],
  ]
}

function forManager(code, name) {
  return code.replace(/^(npm|npx) .*$/gm, line => (name === 'npm' ? line : toManager(line, name)))
}

function languageTabs(code, file) {
  const script = withoutTypes(code)
  if (script === '') return undefined
  if (script !== code.trim()) {
    return [
      ['TypeScript', 'ts', code],
      ['JavaScript', 'js', script],
    ]
  }
  if (file === undefined || !/\.m?[jt]s$/.test(file)) return undefined
  return [
    [file.replace(/\.\w+$/, '.mjs'), 'js', code],
    [file.replace(/\.\w+$/, '.ts'), 'ts', code],
  ]
}

function withoutTypes(code) {
  const options = { transforms: ['typescript'], disableESTransforms: true, keepUnusedImports: true }
  return transform(code, options)
    .code.replace(/\n{3,}/g, '\n\n')
    .replace(/[ \t]+$/gm, '')
    .trim()
}
