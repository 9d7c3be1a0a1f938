// placeholder
import Hummingbird
