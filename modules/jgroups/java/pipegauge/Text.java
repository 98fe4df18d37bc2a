package pipegauge;

import java.io.File;
import java.io.FileInputStream;
import java.io.FileNotFoundException;
import java.io.IOException;
import java.io.InputStream;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.jgroups.conf.ProtocolConfiguration;
import org.jgroups.conf.XmlConfigurator;
import org.jgroups.conf.XmlNode;
import org.jgroups.util.Util;

/**
 * The text of a stack, as its protocols. A stack that JGroups ships is read out of its jar alone, and so is what it includes: JGroups' own reader opens a file of that name in the
 * current folder first, and that folder may be a stranger's.
 */
final class Text {
    private Text() {
    }

    /** Where a text of some name is. */
    private interface Place {
        InputStream open(String name) throws IOException;
    }

    /** A stack that JGroups ships. */
    static List<ProtocolConfiguration> shipped(String name) throws Exception {
        return read(name + ".xml", Text::inJar);
    }

    /** A stack of the user's, a file in the current folder. What it includes is there, too, or JGroups ships it. */
    static List<ProtocolConfiguration> own(String name) throws Exception {
        File file = new File(name + ".xml");
        if (!file.isFile())
            throw new FileNotFoundException("there is no file " + file.getAbsolutePath() + " (config=" + name + ")");
        return read(file.getPath(), Text::inFolder);
    }

    private static InputStream inJar(String name) throws IOException {
        InputStream text = XmlConfigurator.class.getResourceAsStream("/" + name);
        if (text == null)
            throw new FileNotFoundException("JGroups ships no stack " + name);
        return text;
    }

    private static InputStream inFolder(String name) throws IOException {
        File file = new File(name);
        return file.isFile() ? new FileInputStream(file) : inJar(name);
    }

    private static List<ProtocolConfiguration> read(String name, Place place) throws Exception {
        XmlNode stack = nodes(name, place);
        List<XmlNode> protocols = new ArrayList<>();
        for (XmlNode node : children(stack)) {
            if (!node.getName().equals("include")) {
                protocols.add(node);
                continue;
            }
            String file = node.getAttribute("file");
            if (file == null)
                throw new IOException(name + " has an include without a file");
            XmlNode included = nodes(Util.substituteVariable(file), place);
            List<XmlNode> all = included.getName().equals("config") ? children(included) : List.of(included);
            node.removeAttribute("file");
            // What else is said of it is set on all that it brings.
            for (XmlNode one : all)
                for (Map.Entry<String, String> set : node.getAttributes().entrySet())
                    one.addAttribute(set.getKey(), set.getValue());
            protocols.addAll(all);
        }
        return XmlConfigurator.parseProtocols(stack.setChildren(protocols));
    }

    private static XmlNode nodes(String name, Place place) throws IOException {
        try (InputStream text = place.open(name)) {
            XmlNode node = XmlConfigurator.parseXmlDocument(text);
            if (node == null)
                throw new IOException(name + " is empty");
            return node;
        }
    }

    private static List<XmlNode> children(XmlNode node) {
        return node.getChildren() == null ? List.of() : node.getChildren();
    }
}
