import { transform } from 'sucrase'
import {
  commandsFor,
  commandsForPowerShell,
  filesWithForms,
  LANGUAGES,
  MANAGERS,
  namesFor,
} from './code-forms.mjs'

const SHELLS = ['posix', 'powershell']
/** Commands within a sentence that depend on the package manager. */
const INLINE = /^(npx ackhook|npm install (?:--save-dev )?@?[a-z]|npm create|node (?:\S+ )*\S+\.mjs$)/

/**
 * Shows code in each form that a reader may need: commands for a package manager and a shell, a quick start's file in JavaScript
 * and TypeScript. The pages stay plain Markdown: GitHub shows the first form. Every form is in the page, and the theme
 * hides the ones that were not chosen. The search index gets the first form only.
 */
export function codeTabs(md) {
  const { fence, code_inline: inline } = md.renderer.rules
  md.core.ruler.push('page-forms', state => {
    const files = isReference(state.env) ? [] : filesWithForms(state.src)
    state.env.files = files
    for (const [index, token] of state.tokens.entries())
      if (token.type === 'fence') token.meta = { ...token.meta, ...commentsOf(state.tokens, index), files }
    joinTabs(state.tokens)
  })
  md.renderer.rules.fence = (tokens, index, options, env, self) => {
    const render = (content, info = tokens[index].info) => {
      const copy = [...tokens]
      copy[index] = Object.assign(Object.create(Object.getPrototypeOf(tokens[index])), tokens[index], {
        content,
        info,
      })
      return fence(copy, index, options, env, self)
    }
    const found = env.searched || isReference(env) ? undefined : formsOf(tokens[index])
    if (found?.forms.length === 0) return ''
    return found === undefined ? fence(tokens, index, options, env, self) : group(found, render)
  }
  md.renderer.rules.code_inline = (tokens, index, options, env, self) => {
    const text = tokens[index].content
    const render = content => {
      const copy = [...tokens]
      copy[index] = Object.assign(Object.create(Object.getPrototypeOf(tokens[index])), tokens[index], {
        content,
      })
      return inline(copy, index, options, env, self)
    }
    const found = env.searched || isReference(env) ? undefined : inlineForms(text, env.files ?? [])
    if (found === undefined) return inline(tokens, index, options, env, self)
    return found.forms.map(form => `<span ${attributes(form.when)}>${render(form.code)}</span>`).join('')
  }
}

/** The API reference shows declarations, which have only one form. */
function isReference(env) {
  return env.relativePath?.startsWith('api/') === true
}

/** Returns what the comments before a block say: its file, and the choice for which it is shown. */
function commentsOf(tokens, index) {
  const found = {}
  for (let at = index - 1; tokens[at]?.type === 'html_block'; at--) {
    const [, file] = /^<!-- test: .*\bfile=(\S+)/.exec(tokens[at].content) ?? []
    const [, choice, value] = /^<!-- tab: (\w+)=(\w+) -->/.exec(tokens[at].content) ?? []
    if (file !== undefined) found.file = file
    if (choice !== undefined) found.tab = { [choice]: value }
  }
  return found
}

/** Makes one block of those that follow each other, each for another choice: the first shows all of them. */
function joinTabs(tokens) {
  let first
  for (const token of tokens) {
    if (token.type === 'html_block') continue
    if (token.type !== 'fence' || token.meta.tab === undefined) first = undefined
    else if (first === undefined || first.info !== token.info) {
      first = token
      token.meta.tabs = [token]
    } else {
      first.meta.tabs.push(token)
      token.meta.tabs = []
    }
  }
}

function formsOf(token) {
  const { tabs } = token.meta
  if (tabs === undefined) return formsOfOne(token)
  const found = tabs.map(
    one => formsOfOne(one) ?? { shown: [], forms: [{ when: {}, code: one.content, info: one.info }] },
  )
  return {
    // The commands follow the code.
    shown: [...(token.info === 'sh' ? [] : Object.keys(token.meta.tab)), ...(found[0]?.shown ?? [])],
    forms: found.flatMap(({ forms }, index) =>
      forms.map(form => ({ ...form, when: { ...form.when, ...tabs[index].meta.tab } })),
    ),
  }
}

function formsOfOne({ info, content, meta }) {
  if (info === 'sh') return shellForms(content.trimEnd(), meta.files)
  if (info !== 'ts') return undefined
  if (meta.files.includes(meta.file)) {
    return {
      shown: ['language'],
      forms: LANGUAGES.map(language => ({ when: { language }, code: content, info: language })),
    }
  }
  const script = meta.file === undefined ? withoutTypes(content) : ''
  if (script === '' || script === content.trim()) return undefined
  return {
    shown: ['language'],
    forms: [
      { when: { language: 'ts' }, code: content, info: 'ts' },
      { when: { language: 'js' }, code: `${script}\n`, info: 'js' },
    ],
  }
}

function shellForms(code, files) {
  const forms = SHELLS.flatMap(shell =>
    LANGUAGES.flatMap(language =>
      MANAGERS.map(manager => {
        const commands = commandsFor(code, { manager, language, files })
        const shown = shell === 'powershell' ? (commandsForPowerShell(commands) ?? commands) : commands
        return { when: { manager, language, shell }, code: `${shown}\n`, info: 'sh' }
      }),
    ),
  )
  const found = reduce(forms)
  return found && { ...found, shown: found.by.filter(one => one !== 'language') }
}

function inlineForms(text, files) {
  if (!INLINE.test(text) && !files.includes(text)) return undefined
  if (/^node /.test(text) && files.length === 0) return undefined
  return reduce(
    LANGUAGES.flatMap(language =>
      MANAGERS.map(manager => ({
        when: { manager, language },
        code: files.includes(text)
          ? namesFor(text, language, files)
          : commandsFor(text, { manager, language, files }),
      })),
    ),
  )
}

/** Leaves out choices on which nothing depends. */
function reduce(forms) {
  const by = Object.keys(forms[0].when).filter(choice =>
    forms.some(form =>
      forms.some(other => differOnlyIn(choice, form.when, other.when) && form.code !== other.code),
    ),
  )
  if (by.length === 0) return undefined
  const kept = new Map()
  for (const form of forms) {
    const when = Object.fromEntries(by.map(choice => [choice, form.when[choice]]))
    const key = JSON.stringify(when)
    if (!kept.has(key)) kept.set(key, { ...form, when })
  }
  return { by, forms: [...kept.values()] }
}

function differOnlyIn(choice, one, other) {
  return Object.keys(one).every(key => (key === choice) !== (one[key] === other[key]))
}

function group({ shown, forms }, render) {
  const tabs = shown.length === 0 ? '' : `<CodeChoice of="${shown.join(' ')}" />`
  const blocks = forms.map(form => `<div ${attributes(form.when)}>${render(form.code, form.info)}</div>`)
  return `<div class="code-forms">${tabs}${blocks.join('')}</div>\n`
}

function attributes(when) {
  return Object.entries(when)
    .map(([choice, value]) => `data-form-${choice}="${value}"`)
    .join(' ')
}

function withoutTypes(code) {
  const options = { transforms: ['typescript'], disableESTransforms: true, keepUnusedImports: true }
  return transform(code, options)
    .code.replace(/\n{3,}/g, '\n\n')
    .replace(/[ \t]+$/gm, '')
    .trim()
}
