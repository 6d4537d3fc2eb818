import DefaultTheme from 'vitepress/theme-without-fonts'
import { CodeChoice } from './code-choice.mjs'
import { Layout } from './layout.mjs'
import '../../../ui/src/kit/tokens.css'
import './palette.css'
import './code-choice.css'
import './layout.css'
import './landing.css'
import './tables.css'

export default {
  extends: DefaultTheme,
  Layout,
  enhanceApp({ app }) {
    app.component('CodeChoice', CodeChoice)
  },
}
