// What the console's pages do beyond being read. Every page is read without any of this.
import "./live.js";
import "./grid.js";
import "./editor.js";
import "./stage.js";
import "./tools.js";
import "./forms.js";
import "./rules.js";
import "./pipeline.js";
import "./palette.js";
