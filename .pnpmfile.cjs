/**
 * The command `cabinet` at the root, for `npx cabinet` in a clone. It is not in package.json, because npm fails there at
 * `workspace:` before it reads the sentence that says how to install.
 */
module.exports = {
  hooks: {
    readPackage: (manifest) => {
      if (manifest.name !== "data-cabinet-workspace") return manifest
      return { ...manifest, devDependencies: { ...manifest.devDependencies, "data-cabinet": "workspace:*" } }
    },
  },
}
