import js from "@eslint/js";
import hooks from "eslint-plugin-react-hooks";
import { defineConfig } from "eslint/config";
import tseslint from "typescript-eslint";

/** Attributes of elements whose texts people read. */
const texts =
  "aria-label|aria-description|aria-roledescription|alt|title|titleText|label|placeholder|description|help|note|content|text|toggleText|dataLabel|unset|hoverTip|clickTip|textAriaLabel|copyAriaLabel|closeBtnAriaLabel|screenreaderText|screenReaderText|copyLabel";
/** Literals with words in an expression, also as the branches of a condition. */
const literal = ":matches(Literal[value=/[A-Za-z]{2}/], TemplateLiteral:has(> TemplateElement[value.raw=/[A-Za-z]{2}/]))";
const shown = ["", "ConditionalExpression > ", "LogicalExpression > "].map((inner) => `JSXExpressionContainer > ${inner}${literal}`);
const untranslated = "Texts pass through t, rich or msg: docs/page.md#texts.";
/** Placeholders that are examples of values: paths, URLs, quantities and names. */
const example = "JSXAttribute[name.name='placeholder'] > Literal[value=/^[^A-Z ]*$|^[0-9]+[A-Z]i$|^\\{/]";

export default defineConfig(
  { ignores: ["dist", "node_modules", "src/api/schema.ts"] },
  js.configs.recommended,
  ...tseslint.configs.strictTypeChecked,
  ...tseslint.configs.stylisticTypeChecked,
  hooks.configs.flat["recommended-latest"],
  {
    languageOptions: { parserOptions: { projectService: true, tsconfigRootDir: import.meta.dirname } },
    rules: {
      // Numbers in texts are what they are for.
      "@typescript-eslint/restrict-template-expressions": ["error", { allowNumber: true }],
      // Handlers of events may return nothing in short.
      "@typescript-eslint/no-confusing-void-expression": ["error", { ignoreArrowShorthand: true }],
      // Handlers may start what takes time: errors are shown by those who do it.
      "@typescript-eslint/no-misused-promises": ["error", { checksVoidReturn: { attributes: false } }],
      // Leaving a field out is a way to copy the rest.
      "@typescript-eslint/no-unused-vars": ["error", { ignoreRestSiblings: true }],
      // TypeScript's options ask for it.
      "@typescript-eslint/dot-notation": ["error", { allowIndexSignaturePropertyAccess: true }],
    },
  },
  {
    files: ["src/**/*.tsx"],
    ignores: ["**/*.test.tsx"],
    rules: {
      "no-restricted-syntax": [
        "error",
        ...[
          ":not(JSXElement[openingElement.name.name=/^(code|kbd)$/]) > JSXText[value=/[A-Za-z]{2}/]",
          ...shown.map((expression) => `:matches(JSXElement, JSXFragment) > ${expression}`),
          `JSXAttribute[name.name=/^(${texts})$/] > Literal[value=/[A-Za-z]{2}/]:not(${example})`,
          ...shown.map((expression) => `JSXAttribute[name.name=/^(${texts})$/] > ${expression}`),
        ].map((selector) => ({ selector, message: untranslated })),
      ],
      "no-restricted-imports": [
        "error",
        {
          paths: [
            {
              name: "@patternfly/react-core",
              importNames: ["Alert", "HelperTextItem", "Modal", "Pagination", "Tabs", "ToolbarFilter"],
              message: "It has English texts of its own: use the component in src/patternfly, or give it texts.",
            },
          ],
        },
      ],
    },
  },
  {
    files: ["src/patternfly/**"],
    rules: { "no-restricted-imports": "off" },
  },
  {
    // A script for Node and the browser at once: the compiler knows what is defined.
    files: ["e2e/**"],
    rules: {
      "no-undef": "off",
      "@typescript-eslint/no-unsafe-assignment": "off",
      "@typescript-eslint/no-unsafe-member-access": "off",
      "@typescript-eslint/no-unsafe-return": "off",
    },
  },
);
