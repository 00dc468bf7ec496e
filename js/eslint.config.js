/** What tsc does not see. It runs from the repository, so that the page's scripts are looked at too: `npm run lint`. */

import js from '@eslint/js'

export default [
  { ignores: ['**/node_modules/**', 'js/types/**'] },
  js.configs.recommended,
  {
    files: ['js/**/*.js', 'src/**/*.js'],
    languageOptions: { ecmaVersion: 2022, sourceType: 'module' },
    linterOptions: { reportUnusedDisableDirectives: 'error' },
    rules: {
      'no-undef': 'off', // tsc knows better which names there are
      'no-var': 'error',
      'prefer-const': ['error', { destructuring: 'all' }],
      'object-shorthand': 'error',
      'no-shadow': 'error',
      'no-use-before-define': ['error', { functions: false, classes: false, variables: false }],
      'no-implicit-coercion': 'error',
      'no-unneeded-ternary': 'error',
      'no-else-return': 'off',
      eqeqeq: 'error',
      complexity: ['error', 20],
      'max-len': ['error', { code: 180, ignoreTemplateLiterals: true, ignoreStrings: true, ignoreComments: true }],
    },
  },
]
